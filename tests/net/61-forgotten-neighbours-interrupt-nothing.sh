#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# `ip neigh flush` under load, with the daemon and without, and a daemon that
# starts on a host that has forgotten its neighbours: no request fails.
. "$(dirname "$0")/lib.sh"

# It may say that they come back faster than it takes them away.
forget() {
	on fe ip neigh flush dev eth0 2> "$RUN/flush.out" || true
}

balanced 4 ipip $VIP4
start_load $VIP4
for _ in {1..10}; do
	forget
	load_goes_on
done

for _ in 1 2 3; do
	stop fairleadd KILL
	forget
	load_goes_on
	start_fairleadd
	load_goes_on
done
stop_load
equal "backend_unresolved" 0 "$(drop_counter backend_unresolved)"
