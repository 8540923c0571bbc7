#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With no more capabilities than docs/fairleadd.service leaves it, fairleadd balances,
# has fairlead-check run as its own user, ends it when it hangs, and adopts.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# "-all,+bpf,...", as setpriv has it
bounds() {
	sed -n 's/^CapabilityBoundingSet=//p' docs/fairleadd.service | tr ' ' '\n' |
		sed 's/^CAP_/+/' | tr '[:upper:]' '[:lower:]' | paste -sd, | sed 's/^/-all,/'
}

start_bounded() {
	start fairleadd fe setpriv --bounding-set "$(bounds)" --no-new-privs \
		"$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID"
	wait_until 20 fairleadd_settled || fail "fairleadd does not answer"
}

POOL_KEYS="check: {type: icmp, interval: 300ms, timeout: 300ms}"
scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
start_bounded
[ "$(grep -c "^CapBnd:.*ffffffff$" "/proc/$(cat "$RUN/fairleadd.pid")/status")" = 0 ] ||
	fail "fairleadd is not bounded"
all_up
check_http_spread $VIP4
pid=$(status_of checker_pid)
[ "$(stat -c %u "/proc/$pid")" != 0 ] || fail "fairlead-check runs as root"
kill -STOP "$pid"
wait_until 90 is_another "$pid" || fail "one that hangs is not replaced"
gone() { [ ! -d "/proc/$pid" ]; }
wait_until 20 gone || fail "the one that hung still runs"
stop fairleadd
start_bounded
all_up
check_http_spread $VIP4
