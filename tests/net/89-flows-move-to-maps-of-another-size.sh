#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A start with other `flows` or another `conntrack` than the pinned maps have keeps
# what is remembered: connections go on, also when the table would send them
# elsewhere by now.
. "$(dirname "$0")/lib.sh"

started() {
	grep -q X-Backend "$RUN/$1.head" 2> /dev/null
}

flows() {
	fl --json show flows | sed 's/^{"flows":\([0-9]*\),.*/\1/'
}

# restart LINE...: with these lines in place of those of the keys.
restart() {
	local line

	stop fairleadd
	sed -i '/^flows/d; /^conntrack/d' "$RUN/fairlead.yaml"
	for line; do
		echo "$line" >> "$RUN/fairlead.yaml"
	done
	start_fairleadd
}

# logged WORDS: at the start, without --verbose.
logged() {
	grep -q "notice: flow maps: $1" "$RUN/fairleadd.log" ||
		fail "'$1' is not in: $(cat "$RUN/fairleadd.log")"
}

balanced 4 ipip $VIP4
logged "conntrack sets, .* flows a CPU and family, .* MiB a CPU, .* MiB for .* CPUs"
names=()
pids=()
for i in {1..24}; do
	nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 2M \
		-D "$RUN/d$i.head" -o "$RUN/d$i.body" "http://$VIP4/big" &
	pids+=($!)
	names+=("d$i")
	wait_until 20 started "d$i" || fail "download $i did not start"
	kill -STOP $! || fail "download $i was over too soon"
done
equal "flows" 24 "$(flows)"

# By the table alone all would go to b1 now.
restart "flows: 256K"
logged "24 flows moved to maps of another size, 0 found no place"
has "$(fl -o show status)" "flows_per_cpu $((256 * 1024 / $(nproc)))"
equal "flows in larger maps" 24 "$(flows)"
fl backend set web 10.1.0.12 weight 0
fl backend set web 10.1.0.13 weight 0
restart_keeps() {
	sed -i 's/\(name: b[23]\)}/\1, weight: 0}/' "$RUN/fairlead.yaml"
	restart "$@"
}
restart_keeps "flows: 64K" "conntrack: lru-hash"
has "$(fl -o show status)" "conntrack lru-hash"
equal "flows in LRU hashes" 24 "$(flows)"
restart "flows_per_cpu: 16K" "conntrack: sets"
equal "flows in sets again" 24 "$(flows)"
equal "pins left over" "" "$(find "/sys/fs/bpf/fairlead/$ID" -name '*_new')"

kill -CONT "${pids[@]}"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a download broke"
done
sum=$(sha256sum < "$RUN/big")
for name in "${names[@]}"; do
	equal "checksum of $name" "$sum" "$(sha256sum < "$RUN/$name.body")"
done
