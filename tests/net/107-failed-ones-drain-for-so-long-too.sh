#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend whose check fails, and whose connections its VIP keeps, is removed: how long
# it has them outlives the daemon as it does for one that was well.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

file=/run/fairlead/$ID/health.json
end() { jq '.drains[0].until' "$file" 2> /dev/null; }
drain_is_saved() { [ "$(end)" -gt 0 ] 2> /dev/null; }
# Written by the daemon that runs.
saved_by_now() { [ "$(jq .saved "$file" 2> /dev/null)" -gt "$1" ]; }

POOL_KEYS="drain_timeout: 1h
check: {type: http, via: direct, port: 8080, interval: 200ms, timeout: 200ms, fall: 2}"
start_with_agents
fl vip set "$VIP4:80/tcp" on_down keep
stop b2-agent
wait_for b2 effective down
fl backend del web b2
wait_until 20 drain_is_saved || fail "the file does not have the drain: $(cat "$file")"
before=$(end)
stop fairleadd KILL
saved=$(jq .saved "$file")
start_fairleadd
wait_until 30 saved_by_now "$saved" || fail "the file is not written again: $(cat "$file")"
equal "when its drain ends" "$before" "$(end)"
