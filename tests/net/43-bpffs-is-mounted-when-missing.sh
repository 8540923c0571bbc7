#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The daemon and backend-setup mount the BPF file system when it is not there.
. "$(dirname "$0")/lib.sh"

bpffs() {
	grep -c ' /sys/fs/bpf bpf ' /proc/self/mounts || true
}

# Whatever is mounted there now, above or below what lib.sh mounted.
while [ "$(bpffs)" != 0 ]; do
	umount /sys/fs/bpf
done
scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
equal "mounts after fairleadd" 1 "$(bpffs)"
[ -e "/sys/fs/bpf/fairlead/$ID/link" ] || fail "there is no pinned link"

stop fairleadd
umount /sys/fs/bpf
equal "mounts" 0 "$(bpffs)"
backend_setup b1 --interface eth0 $VIP4 > "$RUN/setup.out"
equal "mounts after backend-setup" 1 "$(bpffs)"
