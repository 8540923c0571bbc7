#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is known of many backends is written to health.json in a few calls, not in some
# for each of them, in which nobody else would be served.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

BACKENDS=300
scripts/topology up "$ID"
on fe ip route add local 10.9.0.0/16 dev lo
write_config 4 ipip "$VIP4:80/tcp"
{
	echo "  - address: \"$VIP4:81/tcp\""
	echo "    check: {type: tcp, via: direct, port: 9, interval: 1s, timeout: 500ms, fall: 1}"
	echo "    backends:"
	for ((i = 0; i < BACKENDS; i++)); do
		echo "      - {address: 10.9.$((i / 100)).$((i % 100 + 1))}"
	done
} >> "$RUN/fairlead.yaml"
start_fairleadd

saved() { [ "$(jq '.backends | length' "/run/fairlead/$ID/health.json" 2> /dev/null)" = $BACKENDS ]; }
wait_until 30 saved || fail "health.json has not all $BACKENDS backends"

file() { stat -c %i "/run/fairlead/$ID/health.json"; }
is_new() { [ "$(file)" != "$1" ]; }
wait_save() { wait_until 30 is_new "$(file)" || fail "health.json is not written again"; }
writes() { awk '$1 == "syscw:" { print $2 }' "/proc/$(cat "$RUN/fairleadd.pid")/io"; }

wait_save
before=$(writes)
wait_save
calls=$(($(writes) - before))
echo "write calls between two saves: $calls"
[ "$calls" -lt $((2 * BACKENDS)) ] || fail "$calls write calls for $BACKENDS backends"
