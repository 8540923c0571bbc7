#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend whose check fails keeps its connections where the VIP says on_down: keep, and
# loses them to others where it says rehash. One that comes and goes ten times a second
# costs nobody else a connection, and tables are published no oftener than allowed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

INTERVAL_MS=500

now_ms() { date +%s%3N; }

failed_of_b2() { [ "$(progress 4)" -gt "$1" ]; }

# Its agent really goes and comes, until that has changed its state so often.
flap() {
	local seen=$(($(status_of state_changes) + $1)) deadline=$((SECONDS + 60 * SLOWER))

	while [ "$(status_of state_changes)" -lt "$seen" ] && [ $SECONDS -lt $deadline ]; do
		kill -KILL "$(cat "$RUN/b2-agent.pid")"
		sleep 0.04
		start b2-agent b2 "$O/tests/net/hostile" file 8080 "$RUN/b2-answer"
		sleep 0.04
	done
}

# flap_bounded: no more publications than the time allows, and no fewer than show that
# the flapping was seen.
flap_bounded() {
	local begun changes states allowed

	begun=$(now_ms) changes=$(status_of changes_applied) states=$(status_of state_changes)
	flap 16
	changes=$(($(status_of changes_applied) - changes))
	states=$(($(status_of state_changes) - states))
	allowed=$((($(now_ms) - begun) / INTERVAL_MS + 2))
	[ "$states" -ge 16 ] || fail "only $states changes of state"
	[ "$changes" -ge 2 ] || fail "only $changes publications"
	[ "$changes" -le "$allowed" ] || fail "$changes publications, $allowed allowed"
	echo "$1: $states changes of state, $changes publications, $allowed allowed"
}

POOL_KEYS="check: {type: tcp, port: 8080, interval: 100ms, timeout: 100ms, rise: 1, fall: 1, jitter: 50}"
scripts/topology up "$ID"
backends $VIP4
start_servers
start_agents
write_config 4 ipip "$VIP4:80/tcp" "$VIP4:81/tcp"
echo "publish_interval: ${INTERVAL_MS}ms" >> "$RUN/fairlead.yaml"
start_fairleadd
all_up
fl vip set "$VIP4:81/tcp" on_down keep
start_streams $VIP4 200 20

# Only its check fails, and all of its connections live.
stop b2-agent KILL
wait_for b2 effective down
streams_go_on
equal "connections that failed with on_down: keep" 0 "$(progress 4)"
spread=$(http_spread $VIP4 60)
[[ $spread != *b2* ]] || fail "b2 has new connections: $spread"
start_agent b2
wait_for b2 effective up

flap_bounded "keep"
wait_for b2 effective up
streams_go_on
equal "connections that failed through flapping, with on_down: keep" 0 "$(progress 4)"

# Its connections go to others, who know nothing of them.
fl vip set "$VIP4:81/tcp" on_down rehash
streams_go_on
equal "connections that failed through the change" 0 "$(progress 4)"
stop b2-agent KILL
wait_for b2 effective down
wait_until 30 failed_of_b2 0 || fail "connections to b2 live on with on_down: rehash"
wait_until 30 all_held || fail "they are not open again"
start_agent b2
wait_for b2 effective up

flap_bounded "rehash"
wait_for b2 effective up
wait_until 30 all_held || fail "they are not open again"
streams_go_on
# "-" are new ones that had not yet heard from b2.
stop_streams b2 -
