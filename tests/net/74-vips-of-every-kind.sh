#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# VIPs that cover each other: the most specific has a connection, also after
# changes and after a daemon that starts again, which keeps ids and counters.
. "$(dirname "$0")/lib.sh"

# packets VIP: what its counter says.
packets() {
	fl --json show counters |
		grep -o "\"address\":\"$1\",\"packets\":[0-9]*" | grep -o '[0-9]*$'
}

# counts_at VIP ADDRESS: a request to the address is that VIP's.
counts_at() {
	local before after

	before=$(packets "$1")
	http_get "$2" > /dev/null || fail "no answer from $2"
	after=$(packets "$1")
	[ "$after" -gt "$before" ] || fail "the request to $2 was not for $1"
}

entries() {
	local map

	for map in vips4 vips6 prefixes4 prefixes6 services vip_records; do
		bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/$map" | sort
	done
}

scripts/topology up "$ID"
other=203.0.113.9
backends $VIP4 $other $VIP6
write_config 4 ipip 203.0.113.0/28:any/any 203.0.113.0/28:1-90/tcp \
	$other:80-81/tcp "[2001:db8::/64]:1-1000/tcp"
start_fairleadd
check_http_spread $VIP4
check_http_spread $VIP6

counts_at 203.0.113.0/28:1-90/tcp $VIP4
counts_at $other:80-81/tcp $other
counts_at "\[2001:db8::/64\]:1-1000/tcp" $VIP6

# A more specific one comes, and goes; nothing else is interrupted.
start_load $VIP4
fl vip add $VIP4:80/tcp pool web
counts_at $VIP4:80/tcp $VIP4
fl vip add $other:80/tcp pool web
counts_at $other:80/tcp $other
fl vip del $VIP4:80/tcp
fl vip del $other:80/tcp
counts_at 203.0.113.0/28:1-90/tcp $VIP4
counts_at $other:80-81/tcp $other
load_goes_on
stop_load

refused 1 "vip '203.0.113.0/28:80-99/tcp'" "203.0.113.0/28:1-90/tcp" -- \
	fl vip add 203.0.113.0/28:80-99/tcp
equal "what vip show says" "203.0.113.0/28:1-90/tcp" \
	"$(fl --json vip show 203.0.113.0/28:1-90/tcp |
		grep -o '"address":"[^"]*"' | cut -d'"' -f4)"

# What is in the maps is all that a new daemon needs.
entries > "$RUN/before"
counted=$(packets 203.0.113.0/28:1-90/tcp)
stop fairleadd
start_fairleadd
entries > "$RUN/after"
cmp "$RUN/before" "$RUN/after" || fail "a restart changed the entries"
[ "$(packets 203.0.113.0/28:1-90/tcp)" -ge "$counted" ] || fail "a counter was lost"
counts_at 203.0.113.0/28:1-90/tcp $VIP4
counts_at "\[2001:db8::/64\]:1-1000/tcp" $VIP6

# Addresses beside the prefix are nobody's.
fl vip del 203.0.113.0/28:1-90/tcp
counts_at 203.0.113.0/28:any/any $VIP4
fl vip del 203.0.113.0/28:any/any
counts_at $other:80-81/tcp $other
http_get $VIP4 --connect-timeout 0.5 > /dev/null 2>&1 && fail "$VIP4 still answers"
true
