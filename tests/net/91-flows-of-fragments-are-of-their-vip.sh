#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The fragments that a VIP hashes are a flow without ports: it is counted and forgotten
# with its VIP, and moves to maps of another size, also when the VIP takes any port.
. "$(dirname "$0")/lib.sh"

flows() {
	fl --json show flows "$@" | sed 's/^{"flows":\([0-9]*\),.*/\1/'
}

resolved() {
	[ "$(fl --json backend show web | grep -o '"problem":null' | wc -l)" = 3 ]
}

# Of the client's 4000 bytes; three fragments.
send_fragments() {
	wait_until 10 resolved || fail "the backends have no next hop"
	on client bash -c "head -c 4000 /dev/zero | socat -u -b 4000 - UDP:$1:53"
}

restart() {
	stop fairleadd
	sed -i "s/^flows: .*/flows: $1/" "$RUN/fairlead.yaml"
	start_fairleadd
}

scripts/topology up "$ID"
write_config 4 ipip
cat >> "$RUN/fairlead.yaml" <<-END
	  - {address: "$VIP4:53/udp", pool: web, fragments: hash}
	  - {address: "203.0.113.20:any/udp", pool: web, fragments: hash}
END
start_fairleadd
for vip in $VIP4:53/udp 203.0.113.20:any/udp; do
	send_fragments "${vip%%:*}"
	equal "flows of $vip" 1 "$(flows --vip "$vip")"
done
restart 128K
for vip in $VIP4:53/udp 203.0.113.20:any/udp; do
	new=$(fl --json vip show "$vip" | grep -o '"new_flows":[0-9]*')
	equal "flows of $vip in maps of another size" 1 "$(flows --vip "$vip")"
	# From the same client to the same address: the same flow.
	send_fragments "${vip%%:*}"
	equal "flows of $vip" 1 "$(flows --vip "$vip")"
	equal "new flows of $vip" "$new" "$(fl --json vip show "$vip" | grep -o '"new_flows":[0-9]*')"
	[[ "$(fl flow flush --vip "$vip")" =~ forgotten\ +1 ]] || fail "$vip: not forgotten"
done
equal "flows" 0 "$(flows)"
