#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Who presses Ctrl-C once more while the demo takes things down does not stop
# that; nor does a terminal that is closed.
. "$(dirname "$0")/lib.sh"

# A job of a script ignores SIGINT, unlike one that a person started.
start_demo() {
	setsid env --default-signal=INT,HUP scripts/demo > "/run/demo.log" 2>&1 &
	demo=$!
	wait_until 30 [ -s /run/fairlead-topology-demo/b1-http.pid ] ||
		fail "the demo did not get to its backends: $(cat /run/demo.log)"
}

demo_ended() {
	! kill "-$1" -- "-$demo" 2> /dev/null
}

for signal in INT HUP; do
	start_demo
	wait_until 30 demo_ended "$signal" || fail "the demo goes on after SIG$signal"
	has "$(cat /run/demo.log)" "everything was taken down again"
	equal "namespaces" "" "$(ip netns list)"
	[ ! -e /run/fairlead-topology-demo ] || fail "the demo's files are left"
	equal "pins" "" "$(find /sys/fs/bpf -mindepth 3)"
done
