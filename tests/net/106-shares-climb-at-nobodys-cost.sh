#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that comes back gets its slots in steps, and one whose agent says a weight has
# as many as that: each step only adds to it or only takes from it, whom it lent them to
# get no more and no less than these, and at the end the table is what it was.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# follow DIRECTION SLOTS: b2's slots, until all are as in SLOTS: they only grow or only
# shrink, and those of b1 and b3 only the other way. Prints how many steps were seen.
follow() {
	local direction=$1 end=$2 now before steps=0 deadline=$((SECONDS + 60 * SLOWER))

	before=$(slots)
	while [ "$before" != "$end" ]; do
		[ $SECONDS -lt $deadline ] || fail "slots stay at $before, and do not come to $end"
		now=$(slots)
		awk -v before="$before" -v now="$now" -v sign="$direction" 'BEGIN {
			split(before, b)
			split(now, n)
			if (n[1] + n[2] + n[3] != 65537 || sign * (n[2] - b[2]) < 0 ||
			    sign * (n[1] - b[1]) > 0 || sign * (n[3] - b[3]) > 0)
				exit 1
		}' || fail "slots went from $before to $now"
		[ "$now" = "$before" ] || steps=$((steps + 1))
		before=$now
	done
	echo "$steps"
}

# near SLOTS SHARE: b2 has about that much, in per cent, of what it had.
near() {
	awk -v now="$(slots)" -v full="$full" -v share="$1" 'BEGIN {
		split(now, n)
		split(full, f)
		exit !(n[2] > (share - 3) / 100 * f[2] && n[2] < (share + 3) / 100 * f[2])
	}'
}

POOL_KEYS="slow_start: 9s
check: {type: http, port: 8080, interval: 200ms, timeout: 200ms, weight_header: X-Weight}"
scripts/topology up "$ID"
backends $VIP4
start_servers
start_agents
write_config 4 ipip "$VIP4:80/tcp" "$VIP4:81/tcp"
start_fairleadd
start_watch
all_up
full=$(slots)
read -r full1 full2 full3 <<< "$full"
equal "slots" 65537 $((full1 + full2 + full3))

# Slow start: a tenth, then more each second. Nobody's connections notice.
answers b2 "503 Busy"
wait_for b2 effective down
without() { [[ $(slots) == *" 0 "* ]]; }
wait_until 20 without || fail "b2 has slots: $(slots)"
start_streams $VIP4 200 20
answers b2 "200 OK"
wait_for b2 effective up
has "$(grep '"backend_up".*"b2"' "$RUN/watch.log" | tail -n 1)" '"share":10,'
steps=$(follow 1 "$full")
[ "$steps" -ge 5 ] || fail "only $steps steps of nine"
streams_go_on
equal "connections that failed through slow start" 0 "$(progress 4)"
echo "slow start: $steps steps seen, $(events backend_share) told"
equal "share of b2" 100 "$(health_of b2 share)"

# The agent's weight, smoothed: down to 40 and up again, without a change of state.
down=$(events backend_down)
answers b2 "200 OK" "X-Weight: 40"
wait_until 30 near 40 || fail "b2 has $(slots) of $full"
wait_for b2 share 40
low=$(slots)
answers b2 "200 OK" "X-Weight: 100"
steps=$(follow 1 "$full")
[ "$steps" -ge 2 ] || fail "the agent's weight is not smoothed: $steps steps"
answers b2 "200 OK" "X-Weight: 40"
steps=$(follow -1 "$low")
[ "$steps" -ge 2 ] || fail "the agent's weight is not smoothed: $steps steps"

# Out of bounds it says nothing of its weight.
answers b2 "200 OK" "X-Weight: 4000"
follow 1 "$full" > "$RUN/steps"
answers b2 "200 OK" "X-Weight: drain"
wait_for b2 effective drain
equal "why" agent "$(health_of b2 why)"
answers b2 "200 OK"
wait_for b2 effective up
follow 1 "$full" > "$RUN/steps"
equal "times that a backend went down for its weight" "$down" "$(events backend_down)"
stop_streams
