#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The file that health outlives a restart by is written in large pieces, however many
# backends there are: while it is written, no table follows anything.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

[ -r /proc/self/io ] || skip "the kernel does not count what processes write"

BACKENDS=1000
FILE=/run/fairlead/$ID/health.json

writes() { awk '$1 == "syscw:" { print $2 }' "/proc/$(cat "$RUN/fairleadd.pid")/io"; }
saved() { stat -c %y "$FILE" 2> /dev/null; }
saved_again() { [ "$(saved)" != "$1" ]; }
known() { [ "$(grep -o '"backend":' "$FILE" 2> /dev/null | wc -l)" = $BACKENDS ]; }

scripts/topology up "$ID"
on fe ip route add 10.2.0.0/16 via 10.1.0.11
{
	cat <<-END
	interface: eth0
	flows: 64K
	hash_key: 000102030405060708090a0b0c0d0e0f
	pools:
	  web:
	    initial_timeout: 100ms
	    check: {type: tcp, port: 81, interval: 1h}
	    backends:
	END
	for ((i = 0; i < BACKENDS; i++)); do
		echo "      - {address: 10.2.$((i / 250)).$((i % 250 + 1))}"
	done
	printf 'vips:\n  - {address: "%s:80/tcp", pool: web}\n' $VIP4
} > "$RUN/fairlead.yaml"
start_fairleadd
wait_until 20 known || fail "the file does not have all $BACKENDS: $(head -c 300 "$FILE")"

# By itself, since there is no news: it says how old it is.
time=$(saved)
wait_until 30 saved_again "$time" || fail "the file is not written again"
time=$(saved) before=$(writes)
wait_until 30 saved_again "$time" || fail "the file is not written again"
count=$(($(writes) - before))
echo "$count writes for a file of $(stat -c %s "$FILE") bytes"
[ $count -lt $BACKENDS ] || fail "$count writes for $BACKENDS backends"
