#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks that the configuration says nothing about go to the VIP, through the tunnel to
# each backend, as soon as the host has a route for it: they find what a direct one does
# not. Without the route they go directly again, and nobody is down for it. None ever
# leaves in the clear, whatever happens to the daemon and to what it asks.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# What the front end's own sockets send, as it leaves: the balancer's packets are not
# among it.
start_outers() {
	start outers fe "$O/tests/net/outers" eth0
	wait_until 10 grep -q listening "$RUN/outers.log" || fail "nothing listens"
}

# sent DESTINATION: packets in a tunnel to there.
sent() {
	awk -v to="$1" '$2 == 4 && $4 == to { n++ } END { print n + 0 }' "$RUN/outers.log"
}

# To a VIP itself. Not those that no socket of a probe sends: the kernel answers what
# comes for one that is closed already with a mere reset (04), which nobody misses.
clear_packets() {
	awk -v to=" $VIP4 $VIP6 " '$2 != 4 && index(to, " " $4 " ") && $5 != "04" { n++ }
		END { print n + 0 }' "$RUN/outers.log"
}

results_reach() { [ "$(status_of check_results)" -ge "$1" ]; }

results_go_on() {
	local n

	n=$(status_of check_results)
	wait_until 30 results_reach $((n + 9)) || fail "no results any more"
}

all_via() {
	local host

	for host in b1 b2 b3; do
		wait_for $host via "$1"
	done
}

# nobody_down WHAT: since the last time; and nothing went out in the clear.
seen=0
nobody_down() {
	results_go_on
	equal "$1: backends that went down" $seen "$(events backend_down)"
	equal "$1: packets in the clear" 0 "$(clear_packets)"
	all_up
}

restart_killed() {
	kill -KILL "$(cat "$RUN/fairleadd.pid")"
	wait_until 10 not_running fairleadd || fail "fairleadd survives SIGKILL"
	start_fairleadd
	rm -f "$RUN/watch.pid" # it has ended with the daemon
	start_watch
	seen=0
}

POOL_KEYS="check: {type: http, port: 80, interval: 300ms, timeout: 300ms, fall: 3, path: /}"
balanced 4 ipip $VIP4 $VIP6
start_outers
start_watch
all_up
all_via direct
nobody_down "without a route"
equal "packets in the tunnel, without a route" 0 "$(sent 10.1.0.11)"

on fe ip route add default via 10.1.0.100
all_via vip
nobody_down "with a route"

# What clients find, and what only a check that goes their way does.
on b2 ip addr del $VIP4/32 dev lo
wait_for b2 effective down
equal "what b2 says at its own address" b2 "$(on fe curl -sf http://10.1.0.12/)"
equal "b1" up "$(health_of b1 effective)"
equal "b3" up "$(health_of b3 effective)"
spread=$(http_spread $VIP4 60) || fail "a request failed while b2 was down"
[[ $spread != *b2* ]] || fail "b2 answered: $spread"
on b2 ip addr add $VIP4/32 dev lo
wait_for b2 effective up
seen=1
nobody_down "with the VIP on lo again"

start_servers
start_streams $VIP4 100 20
for i in 1 2; do
	on fe ip route del default
	all_via direct
	nobody_down "$i: the route is gone"
	on fe ip route add default via 10.1.0.100
	all_via vip
	nobody_down "$i: the route is back"
done

restart_killed
all_via vip
nobody_down "kill -9"
sed -i 's|path: /|path: "/?other"|' "$RUN/fairlead.yaml"
restart_killed
all_via vip
nobody_down "kill -9, and another probe"
sed -i 's|path: "/?other"|path: /|; s/type: http,/type: http, method: HEAD,/' "$RUN/fairlead.yaml"
reload
nobody_down "a reload with another probe"

fl backend del web b2
fl backend add web 10.1.0.12 name b2
wait_for b2 effective up
nobody_down "a backend that goes and comes"
streams_go_on
stop_streams

# The VIP that they go to is taken away: they go to another one.
fl vip del "$VIP4:80/tcp"
fl vip del "$VIP4:81/tcp"
fl vip del "$VIP4:7777/udp"
nobody_down "without the VIP"
for host in 10.1.0.11 10.1.0.12 10.1.0.13; do
	[ "$(sent $host)" -gt 0 ] || fail "no probe went through the tunnel to $host"
done

# The count does count.
on fe curl -s --max-time 1 -o /dev/null http://$VIP4/ || true
[ "$(clear_packets)" -gt 0 ] || fail "a packet in the clear is not counted"
