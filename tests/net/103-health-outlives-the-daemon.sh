#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Health survives a reload, a reload that changes the check, kill -9 and a restart:
# what is down stays down, what is up stays up, and the tables stay as they are. What
# is known for too long is not believed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

table() {
	fl --json vip show "$VIP4:80/tcp" | grep -o '"digest":"[0-9a-f]*"'
}

as_before() {
	equal "$1: b1" up "$(health_of b1 effective)"
	equal "$1: b3" down "$(health_of b3 effective)"
	equal "$1: health of b3" down "$(health_of b3 health)"
	equal "$1: table" "$before" "$(table)"
}

# Nobody is checked again before the test is over: what is known is what was kept.
POOL_KEYS="initial_timeout: 1h
check: {type: http, via: direct, port: 80, interval: 500ms, timeout: 500ms, fall: 2}"
balanced 4 ipip $VIP4
all_up
full=$(table)
stop b3-http KILL
wait_for b3 effective down
has_changed() { [ "$(table)" != "$full" ]; }
wait_until 20 has_changed || fail "the table does not follow"
before=$(table)
start_load $VIP4

reload
as_before "after a reload"
writes=$(status_of map_writes)
reload
equal "map writes of a reload of the same file" "$writes" "$(status_of map_writes)"

sed -i 's/interval: 500ms/interval: 30s/' "$RUN/fairlead.yaml"
reload
as_before "after a reload with another check"

kill -KILL "$(cat "$RUN/fairleadd.pid")"
wait_until 10 not_running fairleadd || fail "fairleadd survives SIGKILL"
start_fairleadd
as_before "after SIGKILL"
load_goes_on

stop fairleadd
start_fairleadd
as_before "after a restart"
stop_load

# A file of another boot, or that is long past: as at a first start.
stop fairleadd
sed -i 's/"boot_id": *"[^"]*"/"boot_id":"00000000-0000-0000-0000-000000000000"/' \
	"/run/fairlead/$ID/health.json"
stop b1-http KILL
start_fairleadd
wait_for b1 health unknown
