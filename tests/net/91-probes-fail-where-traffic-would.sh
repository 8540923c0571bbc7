#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A probe goes the way of traffic, so it fails where that would: without the VIP on lo,
# without decap. It comes back by itself, and the other backends' probes never notice. What
# cannot be sent into the tunnel is not sent at all.
. "$(dirname "$0")/lib.sh"

probe_fails() {
	local got

	! got=$(probe_ask "${marks[$1]}" $VIP4 2> "$RUN/marked.err") || [ -z "$got" ] ||
		fail "$2: the probe of b$(($1 + 1)) is answered by '$got'"
}

probe_works() {
	equal "$2: answer to the probe of b$(($1 + 1))" "b$(($1 + 1))" \
		"$(probe_ask "${marks[$1]}" $VIP4)"
}

only_b2_fails() {
	probe_works 0 "$1"
	probe_fails 1 "$1"
	probe_works 2 "$1"
}

all_work() {
	probe_works 0 "$1"
	probe_works 1 "$1"
	probe_works 2 "$1"
}

balanced 4 ipip $VIP4
# Somebody in the clear who would answer for the VIP.
on fe ip route add default via 10.1.0.100
on client ip addr add $VIP4/32 dev lo
start_http client
equal "answer in the clear" client "$(probe_ask 0 $VIP4)"

probes add 10.1.0.11 $VIP4 80 tcp add 10.1.0.12 $VIP4 80 tcp add 10.1.0.13 $VIP4 80 tcp \
	attach eth0 > "$RUN/marks"
mapfile -t marks < "$RUN/marks"
all_work "at first"

on b2 ip addr del $VIP4/32 dev lo
only_b2_fails "without the VIP on lo"
on b2 ip addr add $VIP4/32 dev lo
all_work "with the VIP again"

# Out of service, its probe goes on: that is how it comes back.
fl backend set web b2 state down
all_work "while b2 is down"
fl backend set web b2 state drain
all_work "while b2 drains"
fl backend set web b2 state up

backend_setup b2 --undo > "$RUN/undo.out"
only_b2_fails "without decap"

# Nobody's mark, another port than the probe's, and nobody's backend.
unknown=$(probe_counter unknown)
equal "unknown" 0 "$unknown"
marks+=(0xfa1f3fff)
probe_fails 3 "a mark of no probe"
[ "$(probe_counter unknown)" -gt 0 ] || fail "the packet with the unknown mark was not counted"

probes add 10.1.0.11 $VIP4 81 tcp attach eth0 > "$RUN/marks"
mapfile -t marks < "$RUN/marks"
probe_fails 0 "another port"
[ "$(probe_counter destination)" -gt 0 ] || fail "the packet to another port was not counted"

probes add 10.1.0.99 $VIP4 80 tcp attach eth0 > "$RUN/marks"
mapfile -t marks < "$RUN/marks"
probe_fails 0 "a backend that there is not"
[ "$(probe_counter backend_invalid)" -gt 0 ] || fail "the packet to nobody was not counted"

equal "answer in the clear" client "$(probe_ask 0 $VIP4)"
