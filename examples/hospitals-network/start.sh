#!/bin/sh
# Starts a lead and three parties on this machine, each a process of its own; ends when all have the model. After a kill, start
# it again: it continues the run.
#   sh start.sh FOLDER
set -eu
folder=$1
parties=
for member in north east south; do
    reticent --quiet join "$folder/run.toml" --party "$folder/$member/party.toml" --force &
    parties="$parties $!"
done
reticent lead "$folder/run.toml" --key "$folder/lead/key" --journal "$folder/lead/journal" --out "$folder/lead/model" --force
for party in $parties; do
    wait "$party"
done
