#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend goes down while the tables cannot follow, because the interface is not there
# under its name. When it is, they do, although nothing else changes then.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

slots_of_b2() { fl --json backend show web | jq '.. | objects | select(.name? == "b2") | .slots'; }
without_b2() { [ "$(slots_of_b2)" = 0 ]; }

POOL_KEYS="check: {type: tcp, via: direct, port: 80, interval: 200ms, timeout: 200ms}"
balanced 4 ipip $VIP4
all_up
on fe ip link set eth0 name other 2> /dev/null ||
	skip "this kernel renames no interface that is up"
stop b2-http KILL
wait_for b2 effective down
wait_until 20 grep -q "cannot lay health over the tables" "$RUN/fairleadd.log" ||
	fail "the tables follow without an interface"
[ "$(slots_of_b2)" != 0 ] || fail "b2 has no slots any more: this tests nothing"

on fe ip link set other name eth0
wait_until 20 without_b2 || fail "b2 is down and keeps its slots"
spread=$(http_spread $VIP4 30) || fail "a request failed"
[[ $spread != *b2* ]] || fail "b2 answered: $spread"
equal "complaints" 1 "$(grep -c 'cannot lay health' "$RUN/fairleadd.log")"
