#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A weight that makes no sense is the reason that is shown of a backend, with what is
# allowed, as long as it is said, and once in the log; the backend serves as if none had
# been said.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: http, via: direct, port: 8080, interval: 200ms, timeout: 200ms,
  weight_header: X-Weight}"
start_with_agents
told() { grep -c "backend 'b2' (10.1.0.12) of pool 'web' passes its check, but its weight" "$RUN/fairleadd.log" || true; }

says="weight or state 'loads' makes no sense; allowed: 0 to 100, up, drain, down"
answers b2 "200 OK" "X-Weight: loads"
wait_for b2 health_reason "$says"
equal "the problem of its check" "$says" "$(health_of b2 check_problem)"
equal "that of another" null "$(health_of b1 check_problem)"
has "$(fl backend show web)" "check: $says"
equal "effective state" up "$(health_of b2 effective)"
equal "share" 100 "$(health_of b2 share)"
equal "lines in the log" 1 "$(told)"
has "$(grep "passes its check, but" "$RUN/fairleadd.log")" "its $says; it counts as if it had said none"

# It outlives a restart, so that it ends after one, too.
stop fairleadd
start_fairleadd
wait_for b2 health_reason "$says"
answers b2 "200 OK" "X-Weight: 100"
wait_for b2 health_reason "HTTP status 200"
answers b2 "200 OK" "X-Weight: 101"
wait_for b2 health_reason "weight or state '101' makes no sense; allowed: 0 to 100, up, drain, down"
answers b2 "200 OK" "X-Weight: drain"
wait_for b2 health_reason "HTTP status 200"
wait_for b2 effective drain
