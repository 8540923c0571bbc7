#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The penalty that is shown is that of now, also while no result comes; and what is
# told of damping has no share, which that does not change.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: http, via: direct, port: 80, interval: 200ms, timeout: 200ms, fall: 1}
damping: {suppress: 999, reuse: 998, half_life: 1s}"
balanced 4 ipip $VIP4
start_watch
all_up
stop b2-http KILL
wait_for b2 health down
wait_event backend_damped
has "$(grep backend_damped "$RUN/watch.log")" '"share":null'

# It hangs, and is not yet found to.
kill -STOP "$(status_of checker_pid)"
below() { fl --json backend show web | jq -e '.backends[1].penalty < 100' > /dev/null; }
wait_until 10 below || fail "the penalty stays at $(health_of b2 penalty)"
equal "restarts of fairlead-check" 0 "$(status_of checker_restarts)"
