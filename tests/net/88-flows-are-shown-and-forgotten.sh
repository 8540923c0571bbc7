#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the load balancer remembers is counted, listed, filtered and forgotten; a
# connection whose flow was forgotten goes on by the lookup table.
. "$(dirname "$0")/lib.sh"

started() {
	grep -q X-Backend "$RUN/head" 2> /dev/null
}

# flows [OPTION...]: how many match.
flows() {
	fl --json show flows "$@" | sed 's/^{"flows":\([0-9]*\),.*/\1/'
}

scripts/topology up "$ID"
backends $VIP4
for conntrack in sets lru-hash; do
	write_config 4 ipip $VIP4:80/tcp 203.0.113.77:80/tcp
	echo "conntrack: $conntrack" >> "$RUN/fairlead.yaml"
	start_fairleadd
	[[ "$(fl show status)" =~ conntrack\ +$conntrack ]] || fail "not $conntrack"
	equal "flows at first" 0 "$(flows)"

	rm -f "$RUN/head"
	nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 8M -D "$RUN/head" -o "$RUN/body" "http://$VIP4/big" &
	download=$!
	wait_until 10 started || fail "the download did not start"
	backend=$(sed -n 's/^X-Backend: \(b[123]\).*/\1/p' "$RUN/head")

	list=$(fl -o show flows --list)
	has "$list" "destination $VIP4:80 backend"
	has "$list" "state confirmed"
	equal "flows" 1 "$(flows)"
	equal "flows of the VIP" 1 "$(flows --vip "$VIP4:80/tcp")"
	equal "flows of the other VIP" 0 "$(flows --vip 203.0.113.77:80/tcp)"
	address=$(fl -o backend show | sed -n "s/.* name $backend address \([^ ]*\) .*/\1/p" | head -n 1)
	equal "flows to its backend" 1 "$(flows --backend "$address")"
	equal "flows from its client" 1 "$(flows --source 0.0.0.0/0)"
	equal "flows from others" 0 "$(flows --source 192.0.2.99/32)"

	# Stopped, it sends nothing by which it would be remembered again.
	kill -STOP $download
	[[ "$(fl flow flush --vip "$VIP4:80/tcp")" =~ forgotten\ +[1-9] ]] ||
		fail "nothing was forgotten"
	kill -CONT $download
	wait $download || fail "the download broke"
	equal "checksum" "$(sha256sum < "$RUN/big")" "$(sha256sum < "$RUN/body")"
	stop fairleadd
	on fe "$O/fairleadd" --teardown --instance "$ID"
done

start_fairleadd
refused 1 "no VIP '192.0.2.1:80/tcp'" -- fl show flows --vip 192.0.2.1:80/tcp
refused 1 "no backend '192.0.2.1'" -- fl flow flush --backend 192.0.2.1
refused 64 "allowed: 1 to 10000" -- fl show flows --limit 10001
refused 64 "--vip needs its VIP" -- fl show flows --vip
refused 64 "unknown word '--all-of-them'" -- fl flow flush --all-of-them
