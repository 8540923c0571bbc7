#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A pool that VIPs of UDP and of TCP share has its TCP check made through the tunnel,
# whichever VIP stands first.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

POOL_KEYS="check: {type: tcp, port: 80, interval: 300ms, timeout: 300ms}"
scripts/topology up "$ID"
on fe ip route add default via 10.1.0.100
backends $VIP4
write_config 4 ipip "$VIP4:53/udp" "$VIP4:80/tcp"
start_fairleadd
all_up
equal "the way of its check" vip "$(health_of b1 via)"
