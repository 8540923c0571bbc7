#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend of a pool with an IPv4 and an IPv6 VIP that lacks the IPv6 one on lo is down
# for that VIP and for no other: nobody's IPv6 connection is sent into the void, and IPv4
# goes on. That is said of it, outlives kill -9, a restart and changes of the VIPs, and
# ends when the address is there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# state_at BACKEND ADDRESS MEMBER: by the way of that VIP's address.
state_at() {
	fl --json backend show web | jq -r --arg name "$1" --arg vip "$2" --arg member "$3" \
		'.. | objects | select(.name? == $name) | .vips[] |
			select(.vip | contains($vip)) | .[$member]'
}

state_is() { [ "$(state_at "$1" "$2" effective)" = "$3" ]; }

wait_at() {
	wait_until 30 state_is "$@" ||
		fail "$1 is '$(state_at "$1" "$2" effective)' for $2, not '$3': $(state_at "$1" "$2" health_reason)"
}

lent_at() { [ "$(state_at "$1" "$2" slots)" = 0 ]; }

# b2 is down for IPv6 only, by word and by what clients get.
b2_lacks_ipv6() {
	local spread

	state_is b2 $VIP4 up || fail "$1: b2 is $(state_at b2 $VIP4 effective) for IPv4"
	state_is b2 $VIP6 down || fail "$1: b2 is $(state_at b2 $VIP6 effective) for IPv6"
	wait_until 20 lent_at b2 $VIP6 || fail "$1: b2 has slots for IPv6"
	spread=$(http_spread $VIP6 60) || fail "$1: an IPv6 request failed"
	[[ $spread != *b2* ]] || fail "$1: b2 answered over IPv6: $spread"
	spread=$(http_spread $VIP4 60) || fail "$1: an IPv4 request failed"
	has "$spread" b2
}

all_up_at() {
	local host

	for host in b1 b2 b3; do
		wait_at $host "$1" up
	done
}

panics() {
	fl --json vip show "$1:80/tcp" | jq -e '.vips[].panic' > /dev/null
}

restart() {
	wait_until 10 not_running fairleadd || fail "fairleadd still runs"
	start_fairleadd
	rm -f "$RUN/watch.pid" # it has ended with the daemon
	start_watch
}

POOL_KEYS="initial_timeout: 1h
panic_threshold: 50
check: {type: http, port: 80, interval: 300ms, timeout: 300ms, fall: 3}"
balanced 4 ipip $VIP4 $VIP6
on fe ip route add default via 10.1.0.100
on fe ip -6 route add default via fd00:1::100
for host in b1 b2 b3; do
	wait_for $host via vip
done
start_watch
all_up_at $VIP4
all_up_at $VIP6
wait_until 20 all_serve || fail "not all have slots"
equal "tables while both VIPs find the same" 1 "$(status_of tables)"

start_load $VIP4
on b2 ip -6 addr del $VIP6/128 dev lo
wait_at b2 $VIP6 down
b2_lacks_ipv6 "without the VIP"
start_servers
start_streams $VIP6 60 20
has "$(fl backend show web | grep b2)" "on [$VIP6]:80/tcp: "
equal "the VIP that the row of b2 is for" "[$VIP6]:80/tcp" "$(health_of b2 vip)"
equal "tables while they differ" 2 "$(status_of tables)"
equal "backends up for IPv6" 2 "$(fl --json vip show "[$VIP6]:80/tcp" | jq '.vips[].backends_up')"
equal "backends up for IPv4" 3 "$(fl --json vip show "$VIP4:80/tcp" | jq '.vips[].backends_up')"
equal "changes told" 1 "$(events backend_down)"
has "$(grep backend_down "$RUN/watch.log")" "\"vip\":\"[$VIP6]:80/tcp\""
equal "lines in the log" 1 \
	"$(grep -cF "backend 'b2' (10.1.0.12) of pool 'web' is down for vip [$VIP6]:80/tcp: " "$RUN/fairleadd.log")"

# A daemon that begins is told by nobody but the file: nothing is asked for a while.
sed -i 's/interval: 300ms/interval: 30s/' "$RUN/fairlead.yaml"
reload
b2_lacks_ipv6 "after a reload with another check"
kill -KILL "$(cat "$RUN/fairleadd.pid")"
restart
b2_lacks_ipv6 "after SIGKILL"
stop fairleadd
restart
b2_lacks_ipv6 "after a restart"
load_goes_on
streams_go_on
sed -i 's/interval: 30s/interval: 300ms/' "$RUN/fairlead.yaml"
reload

# A VIP more has its own health, and takes nothing from the others.
fl vip add 203.0.113.11:80/tcp pool web
equal "b2 for the new VIP, which it lacks" down "$(state_at b2 203.0.113.11 effective)"
wait_until 20 panics 203.0.113.11 || fail "the new VIP is not in panic"
b2_lacks_ipv6 "with another VIP"
load_goes_on
streams_go_on
fl vip del 203.0.113.11:80/tcp
b2_lacks_ipv6 "without it again"

on b2 ip -6 addr add $VIP6/128 dev lo nodad
all_up_at $VIP6
wait_until 20 all_serve || fail "b2 has no slots for IPv6 again"
has "$(http_spread $VIP6 60)" b2
load_goes_on
streams_go_on

# One check for all: what is known of the VIPs that it is made at goes on, and back.
sed -i 's/fall: 3/fall: 3, vips: first/' "$RUN/fairlead.yaml"
reload
all_up
equal "ways to b2" null "$(health_of b2 vips)"
sed -i 's/, vips: first//' "$RUN/fairlead.yaml"
reload
for host in b1 b2 b3; do
	state_is $host $VIP6 up || fail "$host is not up at once for IPv6"
done
load_goes_on
streams_go_on
stop_load
stop_streams
