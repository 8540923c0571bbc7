#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks through the tunnel for which no mark can be made are not made: the state says so
# and why, the log once, and nobody goes down for it. They are made as soon as it works.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="initial_timeout: 500ms
check: {type: http, via: vip, port: 80, interval: 300ms, timeout: 300ms}"
scripts/topology up "$ID"
on fe ip route add default via 10.1.0.100
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
touch "$RUN/no-marks"
export NO_MARKS=$RUN/no-marks LD_PRELOAD=$PWD/$O/tests/net/failing_marks.so
start_fairleadd
unset LD_PRELOAD
start watch fe "$O/fairlead" --instance "$ID" --json watch --since 1
says="not checked, as a check through the tunnel cannot be made: cannot write the target of probe mark"
is_muted() { [[ $(health_of b2 check_problem) == "$says"* ]]; }
wait_until 20 is_muted || fail "the problem of the check of b2 is '$(health_of b2 check_problem)'"
has "$(health_of b2 check_problem)" "Cannot allocate memory"
has "$(fl backend show web)" "check: not checked, as a check"
uptime_reaches() { [ "$(status_of uptime_s)" -ge "$1" ]; }
# Longer than initial_timeout, and than it takes to try again.
wait_until 30 uptime_reaches 12 || fail "the clock of fairleadd stands still"
equal "health of b2" unknown "$(health_of b2 health)"
equal "backends that went down" 0 "$(events backend_down)"
# Others take their place.
sed -i 's/interval: 300ms/interval: 400ms/' "$RUN/fairlead.yaml"
reload
wait_until 20 is_muted || fail "the problem of the check of b2 is '$(health_of b2 check_problem)'"
equal "lines in the log" 1 "$(grep -c "cannot be made" "$RUN/fairleadd.log")"

rm "$RUN/no-marks"
all_up
equal "starts of fairlead-check after the first" 0 "$(status_of checker_restarts)"
equal "how b2 is checked" vip "$(health_of b2 via)"
equal "the problem of the check of b2" null "$(health_of b2 check_problem)"
has "$(cat "$RUN/fairleadd.log")" "checks through the tunnel are made again"
