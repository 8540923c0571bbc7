#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Two instances on one host, each on its own interface, with the same VIP: a
# change of one is no change of the other, and each counts for itself.
. "$(dirname "$0")/lib.sh"

other() {
	on fe "$O/fairlead" --instance "$ID-2" "$@"
}

balanced 4 ipip $VIP4
on fe ip link add eth1 type veth peer name eth1-peer
on fe ip link set eth1 up
sed 's/eth0/eth1/' "$RUN/fairlead.yaml" > "$RUN/second.yaml"
start second fe "$O/fairleadd" --foreground --config "$RUN/second.yaml" --instance "$ID-2"
wait_until 20 other show status > "$RUN/status" 2>&1 || fail "it does not answer"

other vip del "$VIP4:80/tcp"
check_http_spread $VIP4
has "$(fl vip show)" "$VIP4:80/tcp"
[[ "$(other vip show)" != *"$VIP4:80/tcp"* ]] || fail "the VIP was not deleted"
has "$(other --json show counters)" '"sent_tx":0'

# One of the two goes; the other goes on.
stop second
on fe "$O/fairleadd" --teardown --instance "$ID-2"
check_http_spread $VIP4
