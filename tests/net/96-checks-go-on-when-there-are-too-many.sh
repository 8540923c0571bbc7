#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# More checks than the machine can run are run less often: each has its turn, and
# fairleadd is answered meanwhile. With too few files, none is found to have failed.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

hostile reply 8080 $'HTTP/1.1 200 OK\r\n\r\nwell'

# 5,000 probes each 10 ms, which is half a million runs a second. To begin them all takes
# longer than one may last.
{
	for id in {1..5000}; do
		INTERVAL=10 TIMEOUT=50 probe "$id" icmp 127.0.0.1 0
	done
	echo '{"op":"ping","seq":1}'
} > "$RUN/probes"
all_passed() {
	grep -q '"op":"pong"' "$RUN/many.log" &&
		[ "$(grep -o '"id":[0-9]*,"ok":true' "$RUN/many.log" | sort -u | wc -l)" = 5000 ]
}
start_checks "$RUN/probes"
wait_until 60 all_passed || fail "not all checks have their turn when there are too many"
stop many

# Some thousand requests each 10 ms cannot be: that is said, once a minute.
for id in {1..5000}; do
	INTERVAL=10 probe "$id" http 127.0.0.1 8080
done > "$RUN/probes"
late() { grep -q 'ms late: fairlead-check has too little CPU time' "$RUN/checker.log"; }
start_checks "$RUN/probes"
wait_until 60 late || fail "nothing is said of checks that begin late"
equal "lines of late checks" 1 "$(grep -c 'ms late' "$RUN/checker.log")"
stop many

# A few hundred at once with files for a few dozen.
for id in {1..200}; do
	probe "$id" tcp 203.0.113.9 1 # hangs
done > "$RUN/probes"
probe 1000 http 127.0.0.1 8080 >> "$RUN/probes"
ip link add hole type veth peer name bottom
ip link set hole up
ip link set bottom up
ip addr add 203.0.113.1/24 dev hole
ip neighbour add 203.0.113.9 lladdr 02:00:00:00:00:09 dev hole nud permanent
complained() { grep -q 'cannot open a socket: too many open files; putting off checks' "$RUN/checker.log"; }
start_limited() {
	rm -f "$RUN/many.log"
	(
		ulimit -n 48
		exec setpriv --inh-caps=-all --bounding-set=-sys_resource \
			"$O/tests/net/checks" 0 600 "$O/fairlead-check" < "$RUN/probes" \
			> "$RUN/many.log" 2> "$RUN/checker.log"
	) &
	echo $! > "$RUN/many.pid"
	disown $!
}
start_limited
wait_until 30 complained || fail "nothing is said of files that are short"
if grep '"ok":false' "$RUN/many.log"; then
	fail "checks fail because files are short"
fi
equal "complaints" 1 "$(grep -c putting "$RUN/checker.log")"
