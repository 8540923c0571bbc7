#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A neighbour that the operator has written down is used as it is, and stays as it
# was written, however often the daemon confirms its next hops.
. "$(dirname "$0")/lib.sh"

state_of() {
	on fe ip neigh show to "$1" dev eth0 | awk '{ print $NF }'
}

all_confirmed() {
	[ "$(state_of 10.1.0.11)" != STALE ] && [ "$(state_of 10.1.0.13)" != STALE ]
}

balanced 4 ipip $VIP4
on fe ip neigh replace 10.1.0.12 dev eth0 lladdr 02:00:00:00:00:0c nud permanent
stop fairleadd
for host in 11 13; do
	on fe ip neigh replace 10.1.0.$host dev eth0 lladdr "02:00:00:00:00:0$(printf %x "$host")" nud stale
done
start_fairleadd
# It asks for those that it took over as soon as it runs.
wait_until 25 all_confirmed || fail "the others are not confirmed"
equal "state of the neighbour" PERMANENT "$(state_of 10.1.0.12)"
check_http_spread $VIP4
