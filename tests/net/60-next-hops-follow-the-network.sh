#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that gets another MAC, and one whose route moves to a gateway and back,
# are followed; the front-end's own new MAC is what packets then come from.
. "$(dirname "$0")/lib.sh"

next_hop_is() {
	fl --json backend show | grep -q "\"next_hop\":\"$1"
}

# b1 speaks to the front-end, as it does when it takes up its work.
b1_moved() {
	on b1 ip neigh flush dev eth0
	on b1 bash -c 'echo > /dev/udp/10.1.0.2/9'
	next_hop_is "10.1.0.11 dev eth0 lladdr 02:00:00:00:01:0b"
}

fe_source() {
	[[ "$(bpftool map lookup pinned "/sys/fs/bpf/fairlead/$ID/backends" key 1 0 0 0)" == \
		*'"mac_src": [2,0,0,0,1,2'* ]]
}

balanced 4 ipip $VIP4
wait_until 10 next_hop_is "10.1.0.11 dev eth0 lladdr 02:00:00:00:00:0b" ||
	fail "b1 is not resolved"
on b1 ip link set eth0 address 02:00:00:00:01:0b
wait_until 15 b1_moved || fail "the new MAC of b1 was not followed"
check_http_spread $VIP4

on client sysctl -qw net.ipv4.ip_forward=1
on fe ip route add 10.1.0.13/32 via 10.1.0.100
wait_until 10 next_hop_is "10.1.0.100 dev eth0 lladdr 02:00:00:00:00:64" ||
	fail "the route through the gateway was not followed"
check_http_spread $VIP4
on fe ip route del 10.1.0.13/32
wait_until 10 next_hop_is "10.1.0.13 dev eth0 lladdr 02:00:00:00:00:0d" ||
	fail "the route without the gateway was not followed"
check_http_spread $VIP4

on fe ip link set eth0 address 02:00:00:00:01:02
on client ip neigh flush dev eth0
wait_until 10 fe_source || fail "the front-end's new MAC is not used"
check_http_spread $VIP4
