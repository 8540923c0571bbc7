#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A check that two pools share runs once, and soon until it is settled for both of them,
# also when the one that wants more failures in a row comes later. An interval of an hour
# makes sure that nothing else runs it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

CHECK="type: http, via: direct, port: 80, interval: 1h, fast_interval: 100ms"
POOL_KEYS="initial_timeout: 0
check: {$CHECK, fall: 5}"

# other PORT FALL: a pool of its own, which has b3 too.
other() {
	cat >> "$RUN/fairlead.yaml" <<-END
	  - address: "$VIP4:$1/tcp"
	    initial_timeout: 0
	    check: {$CHECK, fall: $2}
	    backends:
	      - {address: 10.1.0.13, name: b3-$1}
	END
}

health_by_name() {
	fl --json backend show --all |
		jq -r --arg name "$1" '.. | objects | select(.name? == $name) | .health'
}
is_down() { [ "$(health_by_name "$1")" = down ]; }
goes_down() { wait_until 20 is_down "$1" || fail "$1 is $(health_by_name "$1")"; }

scripts/topology up "$ID"
backends $VIP4
stop b3-http KILL
write_config 4 ipip "$VIP4:80/tcp"
other 81 2
start_fairleadd
goes_down b3-81
goes_down b3
equal "distinct checks" 3 "$(status_of checks)"

other 82 8
reload
goes_down b3-82
equal "distinct checks" 3 "$(status_of checks)"
