#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# VIPs and backends come and go by command, and `save` writes them to the file.
. "$(dirname "$0")/lib.sh"

answer() {
	http_get 203.0.113.20 2> /dev/null
}

served_by() {
	[ "$(answer)" = "$1" ]
}

not_served() {
	! on client curl -s --connect-timeout 1 http://203.0.113.20/
}

balanced 4 ipip $VIP4
for host in b1 b2 b3; do
	backend_setup $host 203.0.113.20 > "$RUN/setup.out"
done

fl vip add 203.0.113.20:80/tcp
fl backend add 203.0.113.20:80/tcp 10.1.0.12 name only weight 2
wait_until 10 served_by b2 || fail "the new VIP is not served by b2"
fl backend add 203.0.113.20:80/tcp fd00:1::13
fl backend del 203.0.113.20:80/tcp only
wait_until 10 served_by b3 || fail "the new VIP is not served by b3"
fl vip set 203.0.113.20:80/tcp encap gue
wait_until 10 served_by b3 || fail "the new VIP is not served through GUE"

has "$(fl show status)" "unsaved_changes      true"
fl save > "$RUN/save.out"
has "$(fl show status)" "unsaved_changes      false"
stop fairleadd
start_fairleadd
wait_until 10 served_by b3 || fail "the saved VIP is not served"
fl vip del 203.0.113.20:80/tcp
wait_until 10 not_served || fail "the deleted VIP is served"
check_http_spread $VIP4
