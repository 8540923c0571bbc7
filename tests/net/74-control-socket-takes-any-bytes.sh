#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Noise, halves of lines, clients that do not read and clients that hang up in the
# middle of a change: the daemon lives, answers others meanwhile, and frees what
# they held. (make fuzz-ctl looks deeper, without a daemon.)
. "$(dirname "$0")/lib.sh"

dir=/run/fairlead/$ID

to() {
	on fe socat -t 2 - "UNIX-CONNECT:$dir/$1" 2> "$RUN/socat.out" || true
}

files() {
	find "/proc/$(cat "$RUN/fairleadd.pid")/fd" -type l | wc -l
}

rss_kib() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$(cat "$RUN/fairleadd.pid")/status"
}

files_as_before() {
	[ "$(files)" = "$before" ]
}

lines() {
	local i

	for ((i = 0; i < $1; i++)); do
		echo "$2"
	done
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
before=$(files)

for socket in fairlead.sock fairlead-ro.sock; do
	for bytes in 1 100 3000 100000; do
		head -c $bytes /dev/urandom | to $socket > "$RUN/answers"
	done
	printf '{"verb": "show.sta' | to $socket > "$RUN/answers"
	equal "answers to half a line" 1 "$(wc -l < "$RUN/answers")"
	lines 5000 '{"verb": "show.status"}' | to $socket > "$RUN/answers"
	equal "answers" 5001 "$(wc -l < "$RUN/answers")"
	equal "good ones" 5000 "$(grep -c '"ok":true' "$RUN/answers")"
	printf '{"id": "%s", "verb": "x"}\n' "$(printf '\xc3\xa9%.0s' {1..200})" |
		to $socket > "$RUN/answers"
	has "$(cat "$RUN/answers")" '"code":"usage"'
done

# 8 MiB on one line of the owner's socket is too much for nobody but the parser.
head -c 8388608 /dev/zero | tr '\0' '[' | { cat; echo; } | to fairlead.sock > "$RUN/answers"
has "$(cat "$RUN/answers")" "not a JSON object"

# Clients that never read: what waits for them is bounded.
lines 50000 '{"verb": "show.counters"}' > "$RUN/many"
for i in 1 2 3; do
	start "deaf$i" fe socat -u "OPEN:$RUN/many,ignoreeof" \
		"UNIX-CONNECT:$dir/fairlead-ro.sock"
done
fl vip add 203.0.113.77:80/tcp
[ "$(rss_kib)" -lt 300000 ] || fail "the daemon has grown to $(rss_kib) KiB"
for i in 1 2 3; do
	stop "deaf$i"
done

# Clients that ask for a change and are gone before it is made, or even read.
for i in {1..20}; do
	printf '{"verb": "backend.set", "args": {"target": "web", "address": "b1", "options": {"weight": "%d"}}}\n' \
		"$i" | on fe socat -u - "UNIX-CONNECT:$dir/fairlead.sock"
done
fl vip del 203.0.113.77:80/tcp
wait_until 10 files_as_before || fail "$(files) files are open, $before were"
has "$(fl show status)" "$ID"
