#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# While so few are up that all serve, who comes up has had its slots, and keeps them: it
# does not climb to them while the few that were up take the rest. Nobody loses slots by
# coming up. Afterwards who comes up climbs as ever, also one whose agent called it down.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

share_of() { slots | cut -d' ' -f"${1#b}"; }
has_slots() { [ "$(share_of "$1")" -gt 0 ]; }
has_none() { [ "$(share_of "$1")" = 0 ]; }
balanced_between() {
	awk -v now="$(slots)" -v one="$1" -v other="$2" 'BEGIN {
		split(now, n)
		exit !(n[one] > 30000 && n[other] > 30000 && n[one] + n[other] == 65537)
	}'
}
in_panic() { fl --json vip show | jq -e '[.. | objects | select(has("panic")) | .panic] | any' > /dev/null; }
is_calm() { ! in_panic; }

POOL_KEYS="slow_start: 1h
panic_threshold: 50
check: {type: http, via: direct, port: 8080, interval: 200ms, timeout: 200ms, fall: 2, weight_header: X-Weight}"
scripts/topology up "$ID"
backends $VIP4
start_agents
write_config 4 ipip "$VIP4:80/tcp"
start_fairleadd
start_watch
all_up
full=$(slots)

# One that climbs, when panic comes: what it has then, it keeps, too.
answers b1 "503 Busy"
wait_for b1 effective down
answers b1 "200 OK"
wait_for b1 effective up
equal "share of one that comes up among others" 10 "$(health_of b1 share)"

answers b2 "503 Busy"
wait_for b2 effective down
answers b3 "503 Busy"
wait_for b3 effective down
wait_until 20 in_panic || fail "no panic"
slots_are() { [ "$(slots)" = "$1" ]; }
wait_until 20 slots_are "$full" || fail "slots in panic are $(slots), not $full"
answers b2 "200 OK"
wait_for b2 effective up
wait_until 20 is_calm || fail "still in panic"
wait_until 20 balanced_between 1 2 || fail "slots of two that are up are $(slots), of $full"
equal "share of b1" 100 "$(health_of b1 share)"
equal "share of b2" 100 "$(health_of b2 share)"
has "$(grep '"backend_up".*"b2"' "$RUN/watch.log" | tail -n 1)" '"share":100,'

answers b3 "200 OK"
wait_for b3 effective up
equal "share of b3, which comes up while not all serve" 10 "$(health_of b3 share)"

# An agent that called its backend down.
answers b2 "200 OK" "X-Weight: down"
wait_for b2 why agent
wait_until 20 has_none b2 || fail "b2 has slots"
answers b2 "200 OK"
wait_for b2 effective up
equal "share of b2, which has called itself down" 10 "$(health_of b2 share)"
