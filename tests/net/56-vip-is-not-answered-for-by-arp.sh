#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend has the VIP on lo and is silent about it on the wire: before
# backend-setup it would have taken the VIP away from the balancer.
. "$(dirname "$0")/lib.sh"

# Who answers when the client asks for the VIP's link-layer address itself?
vip_lladdr() {
	on client ip neigh flush dev eth0
	on client ip route replace "$1" dev eth0
	on client socat -u OPEN:/dev/null,ignoreeof -T1 \
		"UDP:$(bracketed "$1"):9" < /dev/null || true
	echo x | on client socat -u - "UDP:$(bracketed "$1"):9"
	wait_until 10 neighbour_settled "$1" || true
	on client ip neigh show "$1" dev eth0
}

neighbour_settled() {
	[[ "$(on client ip neigh show "$1" dev eth0)" == *FAILED* ]] ||
		[[ "$(on client ip neigh show "$1" dev eth0)" == *lladdr* ]]
}

scripts/topology up "$ID"
on b1 ip addr add $VIP4/32 dev lo
has "$(vip_lladdr $VIP4)" "lladdr 02:00:00:00:00:0b"
on b1 ip addr del $VIP4/32 dev lo

backend_setup b1 --interface eth0 $VIP4 $VIP6 > "$RUN/setup.out"
has "$(vip_lladdr $VIP4)" FAILED
has "$(vip_lladdr $VIP6)" FAILED

# Nor does an ARP request of the backend's own name it, or a new connection
# come from it.
has "$(on b1 ip route get 10.1.0.100)" "src 10.1.0.11"
has "$(on b1 ip -6 route get fd00:1::100)" "src fd00:1::11"
