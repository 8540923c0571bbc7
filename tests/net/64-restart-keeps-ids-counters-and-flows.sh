#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A daemon that starts after one that was killed goes on with its ids and counters
# and writes nothing; a connection goes on; an edited file is applied.
. "$(dirname "$0")/lib.sh"

map_text() {
	local id

	bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/vips4" | sort
	bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/tables"
	for id in 1 2 3 4; do
		bpftool map lookup pinned "/sys/fs/bpf/fairlead/$ID/backends" key $id 0 0 0
	done
}

map_writes() {
	on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead-ro.sock" \
		<<< '{"verb": "show.status"}' | grep -o '"map_writes":[0-9]*'
}

counters() {
	fl --json show counters | grep -o '"vips":.*'
}

started() {
	grep -q X-Backend "$RUN/head" 2> /dev/null
}

new_flows() {
	fl --json vip show $VIP4:80/tcp | grep -o '"new_flows":[0-9]*'
}

balanced 4 ipip $VIP4
check_http_spread $VIP4
maps=$(map_text)
counters=$(counters)
stop fairleadd KILL
start_fairleadd
equal "maps" "$maps" "$(map_text)"
equal "counters" "$counters" "$(counters)"
equal "map writes" '"map_writes":0' "$(map_writes)"

# A connection that lives through it is not a new flow to the daemon after.
on client curl -sS -f --limit-rate 8M -D "$RUN/head" -o "$RUN/body" "http://$VIP4/big" &
download=$!
wait_until 10 started || fail "the download did not start"
flows=$(new_flows)
stop fairleadd KILL
sed -i '/name: b3/d' "$RUN/fairlead.yaml"
start_fairleadd
equal "new flows" "$flows" "$(new_flows)"
has "$(fl --json backend show)" '"state":"draining"'
wait $download || fail "the download broke"
equal "checksum" "$(sha256sum < "$RUN/big")" "$(sha256sum < "$RUN/body")"
spread=$(http_spread $VIP4 60)
[[ $spread != *b3* ]] || fail "b3 still gets new connections: $spread"
