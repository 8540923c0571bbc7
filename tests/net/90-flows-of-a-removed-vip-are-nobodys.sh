#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A VIP that is added after a restart may get the id of one that was removed before.
# What is remembered of the removed VIP is not taken for flows of the new one, whose
# packets would then go to backends that it does not have.
. "$(dirname "$0")/lib.sh"

OLD=203.0.113.20:53/udp
NEW=203.0.113.21:53/udp

flows() {
	fl --json show flows "$@" | sed 's/^{"flows":\([0-9]*\),.*/\1/'
}

sent_to() {
	fl --json backend show "$1" | grep -o '"packets":[0-9]*'
}

resolved() {
	fl --json backend show "$1" | grep -q '"problem":null'
}

# From one port, so that to both VIPs the flow is the same but for the address.
send_to() {
	wait_until 10 resolved "$1" || fail "the backend of $1 has no next hop"
	on client socat -u - "UDP:${1%:*}:53,sourceport=5353" <<< hello
}

add() {
	fl vip add "$1"
	fl backend add "$1" "$2"
}

scripts/topology up "$ID"
for conntrack in sets lru-hash; do
	write_config 4 ipip $VIP4:80/tcp
	echo "conntrack: $conntrack" >> "$RUN/fairlead.yaml"
	start_fairleadd
	add $OLD 10.1.0.12
	send_to $OLD
	equal "flows" 1 "$(flows --vip $OLD)"
	fl vip del $OLD
	stop fairleadd
	start_fairleadd
	add $NEW 10.1.0.13
	equal "flows of a VIP that got no packet" 0 "$(flows --vip $NEW)"

	# Nor do they become its own where they are moved to other maps.
	fl save > /dev/null
	stop fairleadd
	sed -i 's/^flows: .*/flows: 128K/' "$RUN/fairlead.yaml"
	start_fairleadd
	has "$(fl -o show status)" "flows_per_cpu $((128 * 1024 / $(nproc)))"
	send_to $NEW
	equal "packets to the backend of $NEW" '"packets":1' "$(sent_to $NEW)"
	stop fairleadd
	on fe "$O/fairleadd" --teardown --instance "$ID"
done
