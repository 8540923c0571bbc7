#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that does not answer ARP is shown with its problem, and what goes to it
# is dropped under its own reason; when it answers again, all is well by itself.
. "$(dirname "$0")/lib.sh"

unresolved() {
	[[ "$(fl --json show status)" == *"\"backends_unresolved\":$1,"* ]]
}

problem() {
	fl --json backend show | grep -o '"problem":"[^"]*"' || true
}

some_request_fails() {
	on client curl -s -o /dev/null --connect-timeout 0.3 "http://$VIP4/" || return 0
	return 1
}

balanced 4 ipip $VIP4
wait_until 10 unresolved 0 || fail "not all are resolved"
equal "problem" "" "$(problem)"

on fe sysctl -qw net.ipv4.neigh.eth0.retrans_time_ms=100
on b3 ip link set eth0 down
on fe ip neigh del 10.1.0.13 dev eth0
wait_until 15 unresolved 1 || fail "b3 is not unresolved"
equal "problem" '"problem":"the next hop does not answer"' "$(problem)"
wait_until 20 some_request_fails || fail "every request was answered"
[ "$(drop_counter backend_unresolved)" -gt 0 ] || fail "the drop was not counted"

# An address to which there is no way at all.
fl backend add web 198.51.100.1
wait_until 10 unresolved 2 || fail "the unreachable one is resolved"
has "$(problem)" "no route to the address"
fl backend del web 198.51.100.1

on b3 ip link set eth0 up
wait_until 30 unresolved 1 || fail "b3 is not resolved again"
equal "problem" '"problem":"no route to the address"' "$(problem)"
check_http_spread $VIP4
