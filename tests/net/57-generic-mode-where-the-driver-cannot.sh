#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# On an interface whose driver has no XDP of its own, here a bridge, backend-setup
# says so and uses the generic mode, and requests are answered all the same.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
on b1 ip link add br9 address 02:00:00:00:00:0b type bridge
on b1 ip addr flush dev eth0 scope global
on b1 ip link set eth0 master br9
on b1 ip link set br9 up
on b1 ip addr add 10.1.0.11/24 dev br9

warning=$(backend_setup b1 --interface br9 $VIP4 2>&1 > "$RUN/setup.out")
one_line "$warning"
has "$warning" "generic"
has "$(cat "$RUN/setup.out")" "decap, generic"
has "$(backend_setup b1 --show)" "generic"

for host in b2 b3; do
	backend_setup $host --interface eth0 $VIP4 > "$RUN/setup.out"
done
for host in b1 b2 b3; do
	start_http $host
done
write_config 4 gue $VIP4:80/tcp
start_fairleadd
check_http_spread $VIP4
[ "$(decap_counter b1 stripped_gue)" -gt 0 ] || fail "b1 has stripped nothing"

backend_setup b1 --undo > "$RUN/setup.out"
has "$(cat "$RUN/setup.out")" "XDP program on br9"
