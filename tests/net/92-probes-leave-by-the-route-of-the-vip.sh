#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Probes leave by whichever interface the host's route to the VIP names: the balancer's,
# or another one, through which the packets still come to the backend's. Where no route
# can carry them, the reason is said.
. "$(dirname "$0")/lib.sh"

route() {
	probes route "$1" eth0
}

balanced 4 ipip $VIP4 $VIP6

refused 1 "no unicast route to VIP $VIP4" -- route $VIP4
refused 1 "no unicast route to VIP $VIP6" -- route $VIP6
on fe ip route add unreachable $VIP4
refused 1 "no unicast route to VIP $VIP4" -- route $VIP4
on fe ip route del unreachable $VIP4

on fe ip route add default via 10.1.0.100
on fe ip -6 route add default via fd00:1::100
equal "interface" eth0 "$(route $VIP4)"
equal "interface" eth0 "$(route $VIP6)"

# Elsewhere: the source is of that interface, and answers come to it by eth0.
on fe ip link add other type veth peer name peer
on fe sysctl -qw net.ipv6.conf.other.disable_ipv6=1 net.ipv6.conf.peer.disable_ipv6=1
on fe ip addr add 10.9.0.2/24 dev other
on fe ip link set other up
on fe ip link set peer up
on fe ip neigh add 10.9.0.1 lladdr 02:00:00:00:09:01 dev other
on fe ip route add $VIP4/32 via 10.9.0.1
for host in b1 b2 b3; do
	on $host ip route add 10.9.0.0/24 via 10.1.0.2
done
on fe sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=2
equal "interface" other "$(route $VIP4)"
probes add 10.1.0.11 $VIP4 80 tcp add 10.1.0.12 $VIP4 80 tcp add 10.1.0.13 $VIP4 80 tcp \
	attach other > "$RUN/marks"
mapfile -t marks < "$RUN/marks"
for host in 0 1 2; do
	equal "answer by way of another interface" "b$((host + 1))" \
		"$(probe_ask "${marks[$host]}" $VIP4)"
done
equal "packets in the clear" 0 "$(on fe cat /proc/net/dev | awk '$1 == "peer:" { print $3 }')"

# An answer that strict filtering drops is no answer, and that is known before.
on fe sysctl -qw net.ipv4.conf.eth0.rp_filter=1
refused 1 "VIP $VIP4 by interface 'other'" "come in by 'eth0'" "rp_filter is 1" -- route $VIP4
[ -z "$(probe_ask "${marks[0]}" $VIP4 2> "$RUN/marked.err")" ] ||
	fail "rp_filter lets the answer through"
on fe sysctl -qw net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.all.rp_filter=2
equal "interface" other "$(route $VIP4)"

on fe ip route replace $VIP4/32 nexthop via 10.9.0.1 nexthop via 10.1.0.100
refused 1 "VIP $VIP4" "several interfaces" -- route $VIP4
on fe ip route replace $VIP4/32 nexthop via 10.1.0.100 nexthop via 10.1.0.13
equal "interface" eth0 "$(route $VIP4)"
on fe ip route replace $VIP4/32 dev other
refused 1 "VIP $VIP4 is on the link of interface 'other'" -- route $VIP4
on fe ip link set other arp off
equal "interface" other "$(route $VIP4)"
on fe ip route replace $VIP4/32 dev lo
refused 1 "VIP $VIP4" "'lo', which is not Ethernet" -- route $VIP4
on fe ip route del $VIP4/32

# Its own address: nothing leaves.
on fe ip addr add $VIP4/32 dev lo
on fe ip addr add $VIP6/128 dev lo
refused 1 "VIP $VIP4 is an address of this host" -- route $VIP4
refused 1 "VIP $VIP6 is an address of this host" -- route $VIP6
