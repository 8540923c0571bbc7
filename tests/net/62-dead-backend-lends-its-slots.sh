#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that does not answer ARP is shown with its problem, and others serve
# its slots; when it answers again, the table is what it was, by itself.
. "$(dirname "$0")/lib.sh"

unresolved() {
	[[ "$(fl --json show status)" == *"\"backends_unresolved\":$1,"* ]]
}

problem() {
	fl --json backend show | grep -o '"problem":"[^"]*"' || true
}

digest() {
	fl --json vip show "$VIP4:80/tcp" | grep -o '"digest":"[0-9a-f]*"'
}

digest_is() { [ "$(digest)" = "$1" ]; }

slots_of() {
	fl --json backend show web | grep -o "\"name\":\"$1\"[^}]*\"slots\":[0-9]*" |
		grep -o '[0-9]*$'
}

no_slots() { [ "$(slots_of "$1")" = 0 ]; }

balanced 4 ipip $VIP4
wait_until 10 unresolved 0 || fail "not all are resolved"
equal "problem" "" "$(problem)"
before=$(digest)

on fe sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=100
on b3 ip link set eth0 down
on fe ip neigh del 10.1.0.13 dev eth0
wait_until 15 unresolved 1 || fail "b3 is not unresolved"
equal "problem" '"problem":"the next hop does not answer"' "$(problem)"
wait_until 15 no_slots b3 || fail "b3 still has $(slots_of b3) slots"
spread=$(http_spread $VIP4 60) || fail "a request failed while b3 was away"
[[ $spread != *b3* ]] || fail "b3 answered: $spread"

# An address to which there is no way at all.
fl backend add web 198.51.100.1
wait_until 10 unresolved 2 || fail "the unreachable one is resolved"
has "$(problem)" "no route to the address"
fl backend del web 198.51.100.1

on b3 ip link set eth0 up
wait_until 30 unresolved 0 || fail "b3 is not resolved again"
equal "problem" '"problem":"no route to the address"' "$(problem)"
wait_until 15 digest_is "$before" || fail "the table is $(digest), and was $before"
check_http_spread $VIP4
