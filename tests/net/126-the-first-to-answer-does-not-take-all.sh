#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# At a start at which nothing is believed all serve; the first whose check passes does
# not take what the others serve, who have no result yet: they serve on until theirs. One
# that is added to a pool of which something is known waits for its first success.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

slots_are() { [ "$(slots)" = "$1" ]; }
has_none() { [ "$(slots | cut -d' ' -f"$1")" = 0 ]; }

# b1 and b3 say nothing for as long as they are asked.
hang() {
	local host

	for host in b1 b3; do
		stop $host-agent KILL
		start $host-agent $host "$O/tests/net/hostile" silent 8080
		wait_until 10 tcp_listens $host 8080 || fail "nobody listens on $host"
	done
}

POOL_KEYS="initial_timeout: 1h
check: {type: http, via: direct, port: 8080, interval: 1h, timeout: 1m, fall: 100}"
scripts/topology up "$ID"
backends $VIP4
start_agents
hang
write_config 4 ipip "$VIP4:80/tcp"
start_fairleadd
full=$(slots)
[[ " $full " != *" 0 "* ]] || fail "not all serve while nobody is known: $full"
wait_for b2 effective up
equal "b1" "down, no result yet" "$(health_of b1 effective), $(health_of b1 why)"
for _ in {1..20}; do
	equal "slots while one has answered" "$full" "$(slots)"
	sleep 0.1
done

# Also after a restart that believes nothing.
stop fairleadd KILL
rm "/run/fairlead/$ID/health.json"
start_fairleadd
wait_for b2 effective up
for _ in {1..20}; do
	equal "slots after a restart" "$full" "$(slots)"
	sleep 0.1
done

# Its first result is a failure: out, though not yet known to be down.
stop fairleadd KILL
rm "/run/fairlead/$ID/health.json"
stop b3-agent KILL
start_fairleadd
wait_for b2 effective up
wait_until 20 has_none 3 || fail "b3 has failed and serves: $(slots)"
equal "health of b3" unknown "$(health_of b3 health)"
[ "$(slots | cut -d' ' -f1)" -gt 0 ] || fail "b1 has no slots: $(slots)"

# No result within initial_timeout is one.
sed -i 's/initial_timeout: 1h/initial_timeout: 100ms/' "$RUN/fairlead.yaml"
reload
wait_until 20 slots_are "0 65537 0" || fail "b1 serves after initial_timeout: $(slots)"

# One more.
fl backend del web b1
sed -i 's/initial_timeout: 100ms/initial_timeout: 1h/' "$RUN/fairlead.yaml"
reload
wait_for b1 health unknown
equal "slots of one that is new to a known pool" "0 65537 0" "$(slots)"
