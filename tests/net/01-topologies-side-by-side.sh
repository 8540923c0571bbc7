#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two topologies do not meet, and taking one down leaves the other.
. "$(dirname "$0")/lib.sh"

answers() {
	ip netns exec "$1" curl -sf --max-time 5 "http://10.1.0.11/"
}

scripts/topology up "$ID"
scripts/topology up other
start_http b1
equal "own b1" b1 "$(on client curl -sf --max-time 5 http://10.1.0.11/)"
if nsenter --net=/run/netns/flother-client \
	curl -s --connect-timeout 2 http://10.1.0.11/; then
	fail "the other topology's client reaches this one's backend"
fi

scripts/topology down other
[ ! -e /run/netns/flother-client ] || fail "the other topology is still there"
equal "own b1" b1 "$(on client curl -sf --max-time 5 http://10.1.0.11/)"
