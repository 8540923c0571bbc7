#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Between balancer and backends there is no room for the tunnel: clients hear how
# long their packets may be, and their uploads arrive whole.
. "$(dirname "$0")/lib.sh"

# learnt_mtu ADDRESS: what the client knows of the way there.
learnt_mtu() {
	on client ip route get "$1" | sed -n 's/.* mtu \([0-9]*\).*/\1/p'
}

scripts/topology up "$ID"
for host in fe b1 b2 b3; do
	ip -n "fl$ID-$host" link set eth0 mtu 1500
done
backends $VIP4 $VIP6
write_config 4 ipip "$VIP4:81/tcp" "[$VIP6]:81/tcp"
start_fairleadd

equal "MTU known of the VIP" "" "$(learnt_mtu $VIP4)$(learnt_mtu $VIP6)"
check_upload $VIP4
equal "MTU of the way to $VIP4" 1480 "$(learnt_mtu $VIP4)"
for host in b1 b2 b3; do
	stop "$host-sink" 2> /dev/null || true
	rm -f "$RUN/$host-sum"
done
check_upload $VIP6
equal "MTU of the way to $VIP6" 1480 "$(learnt_mtu $VIP6)"
equal "packets that were too big without an answer" 0 "$(drop_counter too_big)"
