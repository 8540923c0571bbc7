#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A demo does not take down another one that runs; what one has left is no
# hindrance.
. "$(dirname "$0")/lib.sh"

scripts/demo > /run/demo.log 2>&1 &
demo=$!
wait_until 30 [ -s /run/fairlead-topology-demo/b1-http.pid ] ||
	fail "the demo did not get to its backends: $(cat /run/demo.log)"
refused 1 "another demo" -- scripts/demo
wait "$demo" || fail "the first demo failed: $(cat /run/demo.log)"

KEEP=1 scripts/demo > /run/demo.log 2>&1 || fail "$(cat /run/demo.log)"
kill -0 "$(cat /run/fairlead-topology-demo/b1-http.pid)"
scripts/demo > /run/demo.log 2>&1 || fail "$(cat /run/demo.log)"
equal "namespaces" "" "$(ip netns list)"
