#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The front-end's interface is deleted and made again under its name: the daemon
# attaches to it without being told.
. "$(dirname "$0")/lib.sh"

sw() { ip -n "fl$ID-sw" "$@"; }

# As scripts/topology makes it.
make_eth0() {
	sw link add fe mtu 1600 type veth peer name eth0 \
		address 02:00:00:00:00:02 mtu 1600 netns "fl$ID-fe"
	nsenter --net="/run/netns/fl$ID-sw" ethtool -K fe tx off tso off gso off gro off
	on fe ethtool -K eth0 tx off tso off gso off gro off
	sw link set fe master br0 up
	on fe ip link set eth0 up
	on fe ip addr add 10.1.0.2/24 dev eth0
	nsenter --net="/run/netns/fl$ID-sw" \
		ip link set dev fe xdpdrv obj "$O/pass.bpf.o" sec xdp
	nsenter --net="/run/netns/fl$ID-sw" ethtool -K fe gro off
}

attached() {
	[[ "$(on fe ip link show eth0)" == *prog/xdp* ]]
}

resolved() {
	[[ "$(fl --json show status)" == *'"backends_unresolved":0,'* ]]
}

balanced 4 ipip $VIP4
for _ in 1 2; do
	on fe ip link del eth0
	make_eth0 > "$RUN/ethtool.out"
	wait_until 10 attached || fail "the new interface is without the program"
	wait_until 10 resolved || fail "the backends are not resolved"
	check_http_spread $VIP4
done

# Also by a daemon that was not there when it happened.
stop fairleadd KILL
on fe ip link del eth0
make_eth0 > "$RUN/ethtool.out"
start_fairleadd
attached || fail "the new interface is without the program"
wait_until 10 resolved || fail "the backends are not resolved"
check_http_spread $VIP4
