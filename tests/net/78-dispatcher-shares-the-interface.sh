#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With `dispatcher: true` one program runs before the balancer and one behind it.
# The one behind sees what is not for a VIP and nothing else; VIPs of every kind
# come and go; connections go on when programs join and leave, and when the daemon
# is killed and started again; --teardown takes away its own program only, and the
# last one leaves nothing.
. "$(dirname "$0")/lib.sh"

command -v xdp-loader > /dev/null || skip "needs xdp-loader (package xdp-tools)"

# add_program PROGRAM PRIORITY PINS: the lower priority runs first; ours is 50.
add_program() {
	mkdir "/sys/fs/bpf/$3"
	on fe xdp-loader load -m native -n "$1" -P "$2" -p "/sys/fs/bpf/$3" eth0 \
		"$O/tests/net/count.bpf.o"
}

# The names of the programs on eth0 in the order in which they run, without the
# dispatcher, but for one that is there alone.
chain() {
	on fe xdp-loader status eth0 | awk '$1 == "=>" { print $3 }' | paste -sd' '
}

# program_id NAME PRIORITY
program_id() {
	on fe xdp-loader status eth0 |
		awk -v name="$1" -v priority="$2" '$2 == priority && $3 == name { print $4 }'
}

remove_program() {
	on fe xdp-loader unload -i "$(program_id "$1" "$2")" eth0
}

# The test takes the kernel at another program's word, not at fairleadd's.
need_dispatcher() {
	{ add_program grow 10 probe > "$RUN/probe.out" 2>&1 && [ "$(chain)" = grow ]; } ||
		skip "libxdp's dispatcher takes no program that changes packets on this kernel"
	remove_program grow 10
}

# seen PINS: packets that came to the program.
seen() {
	bpftool -j map dump pinned "/sys/fs/bpf/$1/packets" |
		grep -Eo '"value":[0-9]+' | grep -o '[0-9]*$'
}

# What is left of the dispatcher and of this instance.
pins() {
	find /sys/fs/bpf -path '*dispatch*' -o -path "*/fairlead/$ID*"
}

# Of 60 requests each has a SYN, an ACK, a GET and a FIN at least.
check_who_sees_what() {
	local before behind

	before=$(seen before) behind=$(seen behind)
	check_http_spread $VIP4
	before=$(($(seen before) - before)) behind=$(($(seen behind) - behind))
	[ "$before" -ge 240 ] || fail "the program before saw only $before packets"
	[ "$behind" -lt 60 ] || fail "the program behind saw $behind packets"

	behind=$(seen behind)
	on client ping -q -c 50 -i 0.01 10.1.0.2 > "$RUN/ping.log" || fail "no ping"
	behind=$(($(seen behind) - behind))
	[ "$behind" -ge 50 ] || fail "of 50 pings $behind came to the program behind"
}

# Which kinds there are the daemon writes to a variable of the program.
check_prefix_vips() {
	check_http_spread $in_prefix
	fl vip del 203.0.113.0/28:80/tcp
	http_get $in_prefix --connect-timeout 0.5 > /dev/null 2>&1 &&
		fail "$in_prefix answers without a VIP"
	fl vip add 203.0.113.0/28:80/tcp pool web
	check_http_spread $in_prefix
}

scripts/topology up "$ID"
need_dispatcher
in_prefix=203.0.113.9
backends $VIP4 $in_prefix
write_config 4 ipip $VIP4:80/tcp
echo "dispatcher: true" >> "$RUN/fairlead.yaml"
add_program count 10 before
start_fairleadd
has "$(fl --json show status)" '"attach":"dispatcher"'
equal "chain" "count fairlead" "$(chain)"
fl vip add 203.0.113.0/28:80/tcp pool web
check_prefix_vips

start_load $VIP4
add_program count 90 behind
equal "chain of three" "count fairlead count" "$(chain)"
load_goes_on
first=$(program_id fairlead 50)
stop fairleadd KILL
load_goes_on
start_fairleadd
load_goes_on
equal "chain after the restart" "count fairlead count" "$(chain)"
[ "$(program_id fairlead 50)" != "$first" ] || fail "the program was not replaced"
check_prefix_vips
stop_load
check_who_sees_what

start_load $VIP4
remove_program count 10
equal "chain without the first" "fairlead count" "$(chain)"
load_goes_on
stop_load

stop fairleadd
on fe "$O/fairleadd" --teardown --instance "$ID"
equal "chain after teardown" count "$(chain)"
equal "pins of the instance" "" "$(pins | grep "/$ID" || true)"
remove_program count 90
equal "pins" "" "$(pins)"
[[ "$(on fe ip link show eth0)" != *xdp* ]] || fail "a program is attached"

# Alone in the dispatcher, and alone taken away.
start_fairleadd
equal "chain of one" fairlead "$(chain)"
check_http_spread $VIP4
stop fairleadd
on fe "$O/fairleadd" --teardown --instance "$ID"
equal "last pins" "" "$(pins)"
[[ "$(on fe ip link show eth0)" != *xdp* ]] || fail "a program is attached"
