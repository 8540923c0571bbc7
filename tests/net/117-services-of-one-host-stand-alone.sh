#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two services on the same hosts, each with a check of its own. What is said of a host
# for one of them, by its check or by the operator, moves the connections of that one,
# and leaves those of the other alone; and so it is when one of them leaves a host.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# serve HOST PORT...
serve() {
	local host=$1 port

	shift
	for port; do
		start "$host-$port" "$host" "$O/tests/net/streams" serve "$port" "$host"
		wait_until 10 tcp_listens "$host" "$port" || fail "nobody listens on $host:$port"
	done
}

# of POOL BACKEND: its effective state.
of() {
	fl --json backend show "$1" |
		jq -r --arg name "$2" '.. | objects | select(.name? == $name) | .effective'
}
of_is() { [ "$(of "$1" "$2")" = "$3" ]; }
wait_of() {
	wait_until 20 of_is "$@" || fail "$2 of $1 is '$(of "$1" "$2")', not '$3'"
}

# hold POOL: 30 connections to its VIP, and 10 new ones a second.
hold() {
	local port=81

	[ "$1" = web ] || port=82
	rm -f "$RUN/$1.progress"
	start "$1" client "$O/tests/net/streams" hold $VIP4 $port 30 10 "$RUN/$1.progress"
	wait_until 30 is_held "$1" || fail "not all connections to $1 are open"
}

number() { cut -d' ' -f"$2" "$RUN/$1.progress"; }
is_held() { [ "$(number "$1" 1 2> /dev/null)" = 30 ]; }
reached() { [ "$(number "$1" "$2")" -ge "$3" ]; }
some_failed() { [ "$(number "$1" 4)" -gt 0 ]; }

# goes_on POOL: every connection speaks a few times more, and new ones come.
goes_on() {
	local good new

	good=$(number "$1" 2) new=$(number "$1" 3)
	wait_until 60 reached "$1" 2 $((good + 100)) || fail "connections to $1 stand still"
	wait_until 60 reached "$1" 3 $((new + 10)) || fail "no new connections to $1 come through"
}

# moved POOL: those that it had on b1 have ended, and are elsewhere; no other has.
moved() {
	local failed

	wait_until 60 some_failed "$1" || fail "connections to $1 stay on b1"
	wait_until 30 is_held "$1" || fail "not all connections to $1 are open again"
	goes_on "$1"
	stop "$1"
	failed=$(jq -r '.backends | to_entries[] | select(.value.failed > 0) | .key' "$RUN/$1.log")
	equal "whose connections to $1 failed" b1 "$failed"
}

# untouched POOL WHEN
untouched() {
	goes_on "$1"
	equal "connections to $1 that failed, when $2" 0 "$(number "$1" 4)"
}

scripts/topology up "$ID"
backends $VIP4
for host in b1 b2 b3; do
	serve $host 81 82 90 91
done
POOL_KEYS="drain_timeout: 2s
check: {type: tcp, via: direct, port: 90, interval: 200ms, timeout: 200ms, fall: 2, rise: 1}"
write_config 4 ipip $VIP4:81/tcp
cat >> "$RUN/fairlead.yaml" <<-END
  - address: $VIP4:82/tcp
    pool: alt
END
sed -i 's/^vips:/  alt:\n    check: {type: tcp, via: direct, port: 91, interval: 200ms, timeout: 200ms, fall: 2, rise: 1}\n    backends: [{address: 10.1.0.11, name: b1}, {address: 10.1.0.12, name: b2}, {address: 10.1.0.13, name: b3}]\nvips:/' \
	"$RUN/fairlead.yaml"
start_fairleadd
for pool in web alt; do
	for host in b1 b2 b3; do
		wait_of $pool $host up
	done
done
wait_until 20 all_serve || fail "not all have slots"

hold web
hold alt
stop b1-91
wait_of alt b1 down
moved alt
untouched web "the check of alt fails"
serve b1 91
wait_of alt b1 up

hold alt
fl backend down alt b1
moved alt
untouched web "b1 is down in alt"
fl backend up alt b1
wait_of alt b1 up

# The kinder verdict does not leave with the pool.
stop b1-91
wait_of alt b1 down
sed -i 's/drain_timeout: 2s/drain_timeout: 0/' "$RUN/fairlead.yaml"
reload
fl backend del web b1
untouched web "b1 has left it, and fails the check of alt"
equal "rows of b1 that say that it drains" 1 \
	"$(fl --json backend show | grep -o '"name":"10.1.0.11"[^}]*"state":"draining"' | wc -l)"
serve b1 91
wait_of alt b1 up
reload # b1 is back
wait_of web b1 up
untouched web "b1 is back"

# Nor when it is between two daemons that it leaves.
stop b1-91
wait_of alt b1 down
stop fairleadd KILL
cp "$RUN/fairlead.yaml" "$RUN/before.yaml"
sed -i '0,/name: b1/{/name: b1/d}' "$RUN/fairlead.yaml"
start_fairleadd
wait_of alt b1 down
untouched web "b1 has left it between two daemons"
cp "$RUN/before.yaml" "$RUN/fairlead.yaml"
serve b1 91
reload
wait_of alt b1 up
wait_of web b1 up

# One that was killed in a commit may leave an entry of a backend that says it has none.
verdicts=/sys/fs/bpf/fairlead/$ID/verdicts
stop fairleadd KILL
bpftool map update pinned "$verdicts" key hex 01 00 09 00 value hex 10 00 00 00
has "$(bpftool map lookup pinned "$verdicts" key hex 01 00 09 00)" flags
start_fairleadd
has "$(bpftool map lookup pinned "$verdicts" key hex 01 00 09 00 2>&1)" "Not found"
untouched web "an entry was left behind"

# A daemon that has never heard of verdicts leaves none behind.
stop fairleadd KILL
rm "$verdicts"
start_fairleadd
[ -e "$verdicts" ] || fail "the map of verdicts is not pinned"
untouched web "a newer daemon has come"
stop web

sed -i 's/drain_timeout: 0/drain_timeout: 2s/' "$RUN/fairlead.yaml"
reload
wait_until 20 all_serve || fail "not all have slots"
hold web
hold alt
fl backend del web b1
moved web
untouched alt "b1 has left web"
stop alt
