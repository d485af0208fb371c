# What tools/services.sh does within its container.
set -eu
cd /trial
systemd-analyze verify /etc/systemd/system/reticent-lead.service /etc/systemd/system/reticent-party.service
sh examples/hospitals-network/prepare.sh hospitals 7431 > /dev/null
mkdir /var/lib/reticent-lead
cp hospitals/lead/key hospitals/lead/key.rosters /var/lib/reticent-lead/
# Three parties on one machine: the unit of the first is the one that is shipped, the others have its lines and folders of their own.
for pair in north:party east:east south:south; do
    own=/var/lib/reticent-${pair#*:}
    mkdir "$own"
    cp -r "hospitals/${pair%:*}/." "$own/"
    [ "$pair" = north:party ] || sed "s/reticent-party/reticent-${pair#*:}/" /etc/systemd/system/reticent-party.service \
        > "/etc/systemd/system/reticent-${pair#*:}.service"
done
for own in /var/lib/reticent-*; do
    cp hospitals/run.toml hospitals/roster.toml hospitals/visits.schema.toml "$own/"
    chown -R reticent: "$own"
    chmod 700 "$own"
done
systemctl daemon-reload
ip link set lo up

# One is killed while the last is waited for; systemd starts it again after a minute.
systemctl start reticent-lead reticent-party reticent-east
sleep 2
systemctl kill --signal=KILL reticent-east
systemctl start --no-block reticent-south
left=180
while systemctl show -P ActiveState reticent-lead reticent-party reticent-east reticent-south | grep -qE '^(active|activating)$'; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { echo "the services did not come to their end"; exit 1; }
    sleep 1
done
restarts=$(journalctl --no-pager -u reticent-east | grep -c "Scheduled restart" || true)
[ "$restarts" -ge 1 ] || { echo "systemd has not started again who was killed"; exit 1; }
for unit in lead party east south; do
    [ "$(systemctl show -P Result "reticent-$unit")" = success ] || { journalctl --no-pager -u "reticent-$unit" | tail -5; exit 1; }
    [ -s "/var/lib/reticent-$unit/model/model.json" ] || { echo "reticent-$unit has no model"; exit 1; }
    [ "$unit" = lead ] || [ "$(reticent --json budget show "/var/lib/reticent-$unit/budget" | grep -o '"state":"settled"' | wc -l)" = 1 ]
done
for unit in lead party; do
    systemd-analyze security --no-pager "reticent-$unit.service" | tail -1 | sed 's/^[^A-Za-z]*//'
done
echo "a lead and three parties as services: one killed and started again by systemd, one model each, paid once"
