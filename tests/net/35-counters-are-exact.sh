#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The front-end counts what it forwards, per VIP and per backend, to the packet.
. "$(dirname "$0")/lib.sh"

# Sum of a field over a list in the answer.
sum_of() {
	fl --json show counters | sed "s/.*\"$1\":\[\([^]]*\)\].*/\1/" |
		grep -o "\"$2\":[0-9]*" | awk -F: '{ sum += $2 } END { print sum + 0 }'
}

decap_total() {
	local host sum=0

	for host in b1 b2 b3; do
		sum=$((sum + $(decap_counter $host stripped_ipip)))
	done
	echo $sum
}

balanced 4 ipip $VIP4
check_http_spread $VIP4
equal "new flows of the VIPs" 60 "$(sum_of vips new_flows)"
equal "new flows of the backends" 60 "$(sum_of backends new_flows)"
packets=$(sum_of vips packets)
[ "$packets" -ge 300 ] || fail "60 connections in $packets packets"
equal "packets of the backends" "$packets" "$(sum_of backends packets)"
equal "packets that arrived" "$packets" "$(decap_total)"
