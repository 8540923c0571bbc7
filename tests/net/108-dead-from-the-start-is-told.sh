#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that never answered, and so never served, is told to be down with what its
# check found, once; and not again when it goes on failing.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: http, via: direct, port: 80, interval: 300ms, timeout: 300ms}"
scripts/topology up "$ID"
backends $VIP4
stop b3-http KILL
write_config 4 ipip "$VIP4:80/tcp"
start_fairleadd
start watch fe "$O/fairlead" --instance "$ID" --json watch --since 1
wait_for b3 health down
wait_event backend_down
has "$(grep backend_down "$RUN/watch.log")" '"backend":"b3"'
has "$(grep backend_down "$RUN/watch.log")" 'refused'

results_reach() { [ "$(status_of check_results)" -ge "$1" ]; }
wait_until 20 results_reach $(($(status_of check_results) + 30)) || fail "no results any more"
equal "times that it was told" 1 "$(events backend_down)"
equal "lines in the log" 1 "$(grep -c "backend 'b3'.*is down" "$RUN/fairleadd.log")"
