#!/bin/sh
# The units of examples/network-service under a real systemd: `systemd-analyze verify`, then a lead and three parties as services
# in a container (systemd-nspawn) that has loopback alone, one of them killed and started again by systemd. All must come to
# the model within their sandbox, and pay once. The container is this machine's own system, with a layer in memory for all
# that is written. Skipped by name without root, systemd-nspawn or overlays.
#   sh tools/services.sh PROGRAM
set -eu
program=$(realpath "$1")
here=$(realpath "$(dirname "$0")/..")

skip() {
    echo "skipped: the units of systemd, because $1"
    exit 0
}

if [ "${2:-}" != inside ]; then
    [ "$(id -u)" = 0 ] || skip "they need root"
    for tool in unshare systemd-nspawn systemd-analyze script; do
        command -v "$tool" >/dev/null || skip "there is no $tool here"
    done
    unshare --mount --propagation private true 2>/dev/null || skip "there is no right to make namespaces"
    exec unshare --mount --propagation private sh "$0" "$program" inside
fi

# Mounts of this process alone: a system whose changes stay in memory, and what a container's systemd needs.
mount -t tmpfs tmpfs /run
mkdir /run/layer /run/system
mount -t tmpfs -o size=2g tmpfs /run/layer
mkdir /run/layer/upper /run/layer/work
mount -t overlay overlay -o lowerdir=/,upperdir=/run/layer/upper,workdir=/run/layer/work /run/system 2>/dev/null ||
    skip "overlays cannot be mounted"
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null || skip "there are no control groups of version 2"

root=/run/system
units=$root/etc/systemd/system
cp "$program" $root/usr/local/bin/reticent
echo uninitialized > $root/etc/machine-id
chroot $root useradd --system reticent 2>/dev/null || true
find $units -type l -delete
cp "$here"/examples/network-service/*.service $units/
# There is no network to wait for but loopback.
for unit in systemd-networkd.service systemd-networkd.socket systemd-networkd-wait-online.service; do
    ln -s /dev/null $units/$unit
done
mkdir $root/trial
cp -r "$here/examples" $root/trial/examples
cp "$here/tools/services_trial.sh" $root/trial/trial.sh
cat > $units/trial.service <<'UNIT'
[Unit]
After=basic.target
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'sh /trial/trial.sh > /trial/said 2>&1 && echo good > /trial/good'
ExecStopPost=/bin/systemctl poweroff --force --force
UNIT
# A container's systemd wants a terminal.
script -qec "timeout 240 systemd-nspawn --quiet --machine=trial --register=no --keep-unit --private-network \
    --console=interactive -D $root --boot systemd.unit=trial.service systemd.show_status=0" /dev/null > /run/console 2>&1 </dev/null ||
    true
cat $root/trial/said 2>/dev/null || { cat /run/console; skip "systemd does not start in a container here"; }
[ -e $root/trial/good ]
