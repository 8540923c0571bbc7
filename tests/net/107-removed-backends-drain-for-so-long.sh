#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A removed backend keeps its connections for the drain_timeout that its pool had; what
# is left of them then is chosen again, and so ends, since others do not know it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

ended() { [ "$(progress 4)" -gt 0 ]; }

POOL_KEYS="drain_timeout: 1s"
scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:81/tcp"
start_fairleadd
start_streams $VIP4 30 10
fl backend del web b2
wait_until 60 ended || fail "connections to b2 go on for ever"
wait_until 30 all_held || fail "not all connections are open again"
stop_streams b2
