#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A setup that cannot be done whole leaves the host as it was.
. "$(dirname "$0")/lib.sh"

snapshot() {
	on b1 sysctl -a --pattern '^net\.ipv4\.conf' 2> /dev/null
	on b1 ip addr show
	find /sys/fs/bpf /run/fairlead-backend -mindepth 1 ! -name '*.lock'
}

scripts/topology up "$ID"
mkdir -p /run/fairlead-backend
before=$(snapshot)

# Seen before anything is changed:
refused 1 "interface 'eth9' does not exist" -- \
	backend_setup b1 --interface eth9 $VIP4
refused 1 "10.1.0.11" "interface 'eth0'" -- \
	backend_setup b1 --interface eth0 $VIP4 10.1.0.11
equal "host" "$before" "$(snapshot)"
on b1 ip link set dev eth0 xdpdrv obj "$O/pass.bpf.o" sec xdp
refused 1 "interface 'eth0' has an XDP program (id " -- \
	backend_setup b1 --interface eth0 $VIP4
on b1 ip link set dev eth0 xdp off
equal "host" "$before" "$(snapshot)"

# Found out on the way, when sysctls and addresses have changed already: there is
# no place for the pins.
ln -s /nowhere /sys/fs/bpf/fairlead-backend
refused 1 "/sys/fs/bpf/fairlead-backend" -- \
	backend_setup b1 --interface eth0 $VIP4 $VIP6
rm /sys/fs/bpf/fairlead-backend
equal "host" "$before" "$(snapshot)"

# The same on top of an earlier run: that one's changes stay.
backend_setup b1 --interface eth0 --no-decap $VIP4 > "$RUN/setup.out"
before=$(snapshot)
ln -s /nowhere /sys/fs/bpf/fairlead-backend
refused 1 "/sys/fs/bpf/fairlead-backend" -- backend_setup b1 $VIP4 $VIP6
rm /sys/fs/bpf/fairlead-backend
equal "host" "$before" "$(snapshot)"
has "$(backend_setup b1 $VIP6)" "$VIP6 on lo"
