#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The way of checks through the tunnel is taken from them: somebody tidies the qdisc up,
# the route goes, the VIP becomes an address of the host. No backend goes down for that,
# and checks go on, so that one that dies then is found.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

ways_are() {
	[ "$(fl --json backend show web | jq -r '[.. | .via? // empty] | unique | join(" ")')" = "$1" ]
}

# go WAY: checks do, and have had results there.
go() {
	local n

	wait_until 20 ways_are "$1" || fail "checks do not go the way '$1'"
	n=$(status_of check_results)
	wait_until 20 results_reach $((n + 30)) || fail "no results any more"
	equal "backends that went down" 0 "$(events backend_down)"
}

results_reach() { [ "$(status_of check_results)" -ge "$1" ]; }
filtered() { on fe tc filter show dev eth0 egress | grep -q fairlead_probe; }

POOL_KEYS="check: {type: tcp, port: 80, interval: 200ms, timeout: 200ms, fall: 2}"
balanced 4 ipip $VIP4
start_watch
on fe ip route add default via 10.1.0.100
all_up
go vip

on fe tc qdisc del dev eth0 clsact
wait_until 20 filtered || fail "the filter does not come back"
go vip

on fe ip route del default
go direct
on fe ip route add default via 10.1.0.100
go vip

on fe ip addr add $VIP4/32 dev lo
go direct
on fe ip addr del $VIP4/32 dev lo
go vip

# A failure that has nothing to do with the way is one.
stop b2-http KILL
wait_for b2 effective down

# Where another instance has its probes there is no way, and that is said once.
said_twice() { [ "$(grep -c 'probes of another instance' "$RUN/second.log")" -gt 1 ]; }
sed -e 's/^interface: eth0/interface: lo/; s/^attach: native/attach: generic/' \
	"$RUN/fairlead.yaml" > "$RUN/second.yaml"
start second fe "$O/fairleadd" --foreground --config "$RUN/second.yaml" --instance "${ID}b"
wait_until 20 grep -q 'probes of another instance' "$RUN/second.log" ||
	fail "nothing is said of what is in the way"
if wait_until 12 said_twice; then
	fail "it is said again and again"
fi
stop second
