#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fairlead-check is killed, and stopped so that it hangs: it is started again, health
# stays what it was, and nothing goes down. It runs without root's rights.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: http, via: direct, port: 80, interval: 300ms, timeout: 300ms}"

results_reach() { [ "$(status_of check_results)" -ge "$1" ]; }

results_go_on() {
	local n

	n=$(status_of check_results)
	wait_until 60 results_reach $((n + 9)) || fail "no results any more"
}

balanced 4 ipip $VIP4
start_watch
all_up
pid=$(status_of checker_pid)
[ "$(stat -c %u "/proc/$pid")" != 0 ] || fail "fairlead-check runs as root"

for signal in KILL STOP SEGV; do
	pid=$(status_of checker_pid)
	kill -$signal "$pid"
	wait_until 90 is_another "$pid" || fail "after SIG$signal: no new fairlead-check"
	results_go_on
	[ ! -d "/proc/$pid" ] || ! grep -q '^State:.[^Z]' "/proc/$pid/status" ||
		fail "the fairlead-check that hung still runs"
done
equal "backends down" 0 "$(events backend_down)"
equal "restarts" 3 "$(status_of checker_restarts)"
wait_event checker_died 3

# It ends with its daemon.
pid=$(status_of checker_pid)
stop fairleadd KILL
gone() { [ ! -d "/proc/$pid" ]; }
wait_until 10 gone || fail "fairlead-check outlives fairleadd"

# Whom it cannot become any more is said once for each try, in its own words.
cp /etc/passwd "$RUN/passwd"
echo "fleeting:x:12345:65534::/:/bin/false" >> "$RUN/passwd"
mount --bind "$RUN/passwd" /etc/passwd
sed -i 's/^attach: native/&\ncheck_user: fleeting/' "$RUN/fairlead.yaml"
start_fairleadd
results_go_on
equal "the problem of the check of b1" null "$(health_of b1 check_problem)"
umount /etc/passwd
kill -KILL "$(status_of checker_pid)"
wait_until 30 grep -q "there is no user 'fleeting'" "$RUN/fairleadd.log" ||
	fail "not a word of why fairlead-check does not run"
has "$(health_of b1 check_problem)" "not checked any more: fairlead-check "
has "$(fl backend show web)" "check: not checked any more: fairlead-check "
# And it is in the way of nothing else.
fl backend set web b1 weight 2 > /dev/null || fail "no change without the user"
