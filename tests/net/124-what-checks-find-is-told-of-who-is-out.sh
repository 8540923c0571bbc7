#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a check finds of a backend that the operator has taken out is told once, though
# nothing moves; taken up while its check fails, it is told to stay down, and why. A
# lone failure in between is not why it is up.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# last KIND MEMBER: of the last event of that kind.
last() { jq -r "select(.event == \"$1\") | .$2" "$RUN/watch.log" | tail -n 1; }

# told DOWN UP FAILED PASSED: how many events there have been.
told() {
	equal "$*" "$*" "$(events backend_down) $(events backend_up) $(events check_failed) $(events check_passed)"
}

POOL_KEYS="check: {type: http, via: direct, port: 8080, interval: 300ms, timeout: 300ms, rise: 2, fall: 2}"
start_with_agents
start_watch
fl backend down web b2
wait_event backend_down 1
answers b2 "503 Busy"
wait_event check_failed 1
equal "reason" "HTTP status 503, 200-299 wanted" "$(last check_failed reason)"
equal "backend" b2 "$(last check_failed backend)"
grep -q "backend 'b2' (10.1.0.12) of pool 'web' is out, and fails its check now: HTTP status 503, 200-299 wanted" \
	"$RUN/fairleadd.log" || fail "the log does not have it"
told "1 0 1 0"

fl backend up web b2
wait_event backend_down 2
equal "why it stays down" "HTTP status 503, 200-299 wanted" "$(last backend_down reason)"
answers b2 "200 OK"
wait_event backend_up 1
told "2 1 1 0"

fl backend down web b2
wait_event backend_down 3
answers b2 "500 Down"
wait_event check_failed 2
answers b2 "200 OK"
wait_event check_passed 1
equal "reason" "HTTP status 200" "$(last check_passed reason)"
fl backend up web b2
wait_event backend_up 2
told "3 2 2 1"
equal "counted" 2 "$(fl --json show counters | jq '.. | objects | select(.event? == "check_failed") | .count')"
start text fe "$O/fairlead" --instance "$ID" watch --since 1
is_printed() { grep -q "check_passed *b2 (10.1.0.12) of web: HTTP status 200" "$RUN/text.log"; }
wait_until 10 is_printed || fail "not in the text: $(cat "$RUN/text.log")"

# Once.
sed -i 's/fall: 2/fall: 100/' "$RUN/fairlead.yaml"
reload
answers b2 "503 Busy"
wait_for b2 health_reason "HTTP status 503, 200-299 wanted"
answers b2 "200 OK"
fl backend drain web b2
fl backend up web b2
wait_event backend_up 3
equal "why it is up" "HTTP status 200" "$(last backend_up reason)"
