#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Options of a VIP change with a command, hold for real traffic, come back with
# save, and a daemon that starts again finds them and writes nothing.
. "$(dirname "$0")/lib.sh"

VIP=$VIP4:80/tcp

map_writes() {
	on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead-ro.sock" \
		<<< '{"verb": "show.status"}' | grep -o '"map_writes":[0-9]*'
}

maps() {
	local map

	for map in vips4 vips6 acls4 acls6; do
		bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/$map" | sort
	done
}

# One request, which nobody answers when it is dropped.
answered() {
	on client curl -s -f --connect-timeout 0.5 -o /dev/null "http://$1/"
}

balanced 4 ipip $VIP4 $VIP6
fl vip set $VIP hash source
equal "backends of one client" 1 "$(http_spread $VIP4 40 | wc -l)"
fl vip set $VIP hash 5-tuple
check_http_spread $VIP4

before=$(drop_counter source_denied)
fl vip set $VIP deny 10.1.0.0/24
answered $VIP4 && fail "a denied source was answered"
[ "$(drop_counter source_denied)" -gt "$before" ] || fail "the drop was not counted"
fl vip set $VIP allow 10.1.0.100
answered $VIP4 || fail "the more specific prefix does not win"
fl vip set $VIP allow 10.1.0.101 deny none
answered $VIP4 && fail "a source on no list was answered"
fl vip set "[$VIP6]:80/tcp" deny fd00:1::/64
answered "[$VIP6]" && fail "a denied IPv6 source was answered"

fl vip set $VIP allow 10.1.0.0/24,192.0.2.0/24 deny 10.1.0.7 tcp_junk pass \
	fragments hash udp_idle_timeout 9 new_flow_limit 1000
answered $VIP4 || fail "an allowed source was not answered"
fl save
has "$(< "$RUN/fairlead.yaml")" 'udp_idle_timeout: 9'
has "$(< "$RUN/fairlead.yaml")" '- 192.0.2.0/24'

maps=$(maps)
stop fairleadd KILL
start_fairleadd
equal "maps" "$maps" "$(maps)"
equal "map writes" '"map_writes":0' "$(map_writes)"
answered $VIP4 || fail "an allowed source was not answered after the start"
answered "[$VIP6]" && fail "a denied IPv6 source was answered after the start"

fl vip set $VIP allow none deny none
fl vip set "[$VIP6]:80/tcp" deny none
answered "[$VIP6]" || fail "the emptied list still denies"
equal "what is left of the lists" "[]" \
	"$(bpftool -j map dump pinned "/sys/fs/bpf/fairlead/$ID/acls4")"

refused 1 "'$VIP4:81/tcp'" "echo is" -- fl vip set $VIP echo false
refused 1 "on both lists" -- fl vip set $VIP allow 10.0.0.0/8 deny 10.0.0.0/8
