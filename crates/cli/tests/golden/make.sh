# Writes a file of each kind into the current folder, which has the job files of this one:
#   cp *.toml table.csv FOLDER; cd FOLDER; PATH=…:$PATH sh …/make.sh
# tests/frozen.rs runs it with the program that is tested, and compares with written/; commit 72ea3a8
# made 72ea3a8/ with it. What depends on a key or on the system's random numbers is under private/.
set -e
for job in fit errors tuned; do
    reticent fit --quiet --spec $job.toml --json >$job.json
done
reticent simulate --quiet parties.toml --checkpoint checkpoint --json >parties.json
reticent sweep --quiet sweep.toml --public-data --jobs 1 --out sweep --json >sweep.json
reticent count --quiet table.csv --schema schema.toml --epsilon 1 --delta 1e-6 --by-class --seed 7 --json >count.json
reticent evaluate --quiet fit table.csv --epsilon 4 --delta 1e-6 --seed 7 --json >evaluate.json
mkdir private
reticent budget new private/clinic.budget --dataset clinic --epsilon 9 --delta 1e-4 --json >private/new.json
reticent fit --quiet table.csv --schema schema.toml --epsilon 2 --delta 1e-5 --iterations 5 \
    --budget private/clinic.budget --out private/fit --json >private/fit.json
reticent budget show private/clinic.budget --json >private/show.json
