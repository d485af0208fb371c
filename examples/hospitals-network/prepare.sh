#!/bin/sh
# Creates keys, a roster that all have signed, and a table and a budget for each of three hospitals, in a new folder. In a real
# run each member makes its own key on its own machine, and signs after comparing the fingerprint by telephone.
#   sh prepare.sh FOLDER [PORT [TRUST [ALGORITHM]]]
# TRUST is what the lead is trusted with: central (as in run.toml), local or secure-aggregation. ALGORITHM is auto, or another
# that asks for sums, or federated, which asks for steps. With ALGORITHM r-admm,
# mr-admm, dvp, m-admm or walk, and TRUST local, the hospitals are peers, and the lead carries messages that it cannot read.
set -eu
here=$(dirname "$0")
folder=$1
port=${2:-7431}
trust=${3:-central}
algorithm=${4:-auto}
mkdir "$folder" "$folder/lead" "$folder/north" "$folder/east" "$folder/south"
cp "$here/../data/visits.schema.toml" "$folder"
sed -e "s/^trust = .*/trust = \"$trust\"/" -e "s/^algorithm = .*/algorithm = \"$algorithm\"/" \
    "$here/run.toml" > "$folder/run.toml"

for member in lead north east south; do
    reticent --quiet identity new "$folder/$member/key"
done
reticent --quiet roster new "$folder/roster.toml" --study "returns within a month" \
    --key "$folder/lead/key.pub" --address "127.0.0.1:$port"
for member in north east south; do
    reticent --quiet roster add "$folder/roster.toml" --name "$member" --key "$folder/$member/key.pub"
done
for member in lead north east south; do
    reticent --quiet roster sign "$folder/roster.toml" --key "$folder/$member/key"
done

number=0
for member in north east south; do
    awk -v own="$number" 'NR == 1 || NR % 3 == own' "$here/../data/visits.csv" > "$folder/$member/visits.csv"
    reticent --quiet budget new "$folder/$member/budget" --dataset "$member" --epsilon 6 --delta 1e-5
    printf 'data = "visits.csv"\nkey = "key"\njournal = "journal"\nbudget = "budget"\nout = "model"\n' \
        > "$folder/$member/party.toml"
    number=$((number + 1))
done
reticent roster show "$folder/roster.toml"
