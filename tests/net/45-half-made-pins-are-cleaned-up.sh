#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a start or a commit that was cut short has left is cleared away: a set of
# pins without its config map is made anew, a table that no VIP names is deleted.
. "$(dirname "$0")/lib.sh"

pins=/sys/fs/bpf/fairlead/$ID

tables() {
	bpftool map dump pinned "$pins/tables" | grep -c value: || true
}

balanced 4 ipip $VIP4
stop fairleadd KILL
rm "$pins/config" "$pins/vips4"
start_fairleadd
grep -q "notice: balancing" "$RUN/fairleadd.log" || fail "half a set was adopted"
check_http_spread $VIP4

equal "tables" 1 "$(tables)"
# The id of the inner map, four bytes in the order of the host.
inner=$((0x$(bpftool map dump pinned "$pins/tables" |
	awk '/value:/ { print $10 $9 $8 $7 }')))
stop fairleadd KILL
bpftool map update pinned "$pins/tables" key 9 3 0 0 value id "$inner"
equal "tables" 2 "$(tables)"
start_fairleadd
grep -q "notice: adopted" "$RUN/fairleadd.log" || fail "the maps were not adopted"
equal "tables" 1 "$(tables)"
check_http_spread $VIP4
