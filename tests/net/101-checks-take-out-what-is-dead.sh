#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend whose server dies goes out by its check, with the reason told once, and
# comes back by it; the table is then what it was. One whose agent says so drains.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

digest() {
	fl --json vip show "$VIP4:80/tcp" | grep -o '"digest":"[0-9a-f]*"'
}

digest_is() { [ "$(digest)" = "$1" ]; }

POOL_KEYS="check: {type: http, port: 80, interval: 300ms, timeout: 300ms, path: /, body: b}"
balanced 4 ipip $VIP4
start_watch
all_up
digest_settled() { before=$(digest) && sleep 0.2 && digest_is "$before"; }
wait_until 10 digest_settled || fail "the table keeps changing"
start_load $VIP4

stop b2-http KILL
wait_for b2 effective down
equal "health of b2" down "$(health_of b2 health)"
has "$(health_of b2 health_reason)" "refused"
wait_event backend_down
has "$(grep backend_down "$RUN/watch.log")" '"backend":"b2"'
spread=$(http_spread $VIP4 60) || fail "a request failed while b2 was dead"
[[ $spread != *b2* ]] || fail "b2 answered: $spread"
load_goes_on

start_http b2
wait_for b2 effective up
wait_until 10 digest_is "$before" || fail "the table is $(digest), and was $before"
check_http_spread $VIP4
equal "times that b2 went down" 1 "$(events backend_down)"
equal "lines in the log" 1 "$(grep -c "backend 'b2'.*is down" "$RUN/fairleadd.log")"

# Those that it was sent until its check said so have failed, and no other since.
stop load || true
echo "requests that failed: $(grep -o '"failed": [0-9]*' "$RUN/load.log")"
check_http_spread $VIP4
