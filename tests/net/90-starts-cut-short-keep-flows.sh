#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A start that failed, or was killed at any step, loses no flow and leaves no pin, and
# the next one starts: connections go on where the table would not send them by now.
. "$(dirname "$0")/lib.sh"

pins=/sys/fs/bpf/fairlead/$ID
maps=(flow_sets4 flow_sets6 flows4 flows6)

started() {
	grep -q X-Backend "$RUN/$1.head" 2> /dev/null
}

# configure LINE...: these lines in place of those of the keys.
configure() {
	local line

	sed -i '/^flows/d; /^conntrack/d' "$RUN/fairlead.yaml"
	for line; do
		echo "$line" >> "$RUN/fairlead.yaml"
	done
}

# hold GROUP: eight downloads, stopped.
hold() {
	local i

	pids=()
	rm -f "$RUN"/?[1-8].head
	for i in {1..8}; do
		nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 4M \
			-D "$RUN/$1$i.head" -o "$RUN/$1$i.body" "http://$VIP4/big" &
		pids+=($!)
		wait_until 20 started "$1$i" || fail "download $1$i did not start"
		kill -STOP $! || fail "download $1$i was over too soon"
	done
}

# let_go GROUP WHEN: they end well.
let_go() {
	local pid i

	kill -CONT "${pids[@]}"
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a download broke $2"
	done
	for i in {1..8}; do
		equal "checksum of download $i $2" "$(sha256sum < "$RUN/big")" \
			"$(sha256sum < "$RUN/$1$i.body")"
	done
	equal "pins left over $2" "" "$(find "$pins" -name '*_new' ! -type d)"
}

# weights NUMBER: of b2 and b3, in the file and where it runs.
weights() {
	sed -i "s/\(name: b[23]\)[^}]*}/\1, weight: $1}/" "$RUN/fairlead.yaml"
	fl backend set web 10.1.0.12 weight "$1"
	fl backend set web 10.1.0.13 weight "$1"
}

balanced 4 ipip $VIP4
stop fairleadd
on fe "$O/fairleadd" --teardown --instance "$ID"
configure "flows_per_cpu: 1K"
start_fairleadd

# The new maps have another number of sets in use than the old ones can have.
hold a
weights 0
stop fairleadd
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
configure "flows: 1M"
sed -i 's/^interface:.*/interface: nosuch0/' "$RUN/fairlead.yaml"
! on fe "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID" \
	2> "$RUN/nosuch.log" || fail "it started"
has "$(cat "$RUN/nosuch.log")" "interface 'nosuch0' does not exist"
cp "$RUN/good.yaml" "$RUN/fairlead.yaml"
start_fairleadd
let_go a "after a start that failed"

# Killed between the exchange of the program and that of some of the pins.
for n in 0 1 2 3 4; do
	weights 1
	hold b
	weights 0
	for map in "${maps[@]}"; do
		ln "$pins/$map" "$pins/${map}_old"
	done
	stop fairleadd
	configure "flows_per_cpu: 2K" "conntrack: lru-hash"
	start_fairleadd
	stop fairleadd KILL
	for map in "${maps[@]:n}"; do
		mv "$pins/${map}_old" "$pins/$map"
	done
	rm -f "$pins"/*_old
	configure "flows_per_cpu: 1K"
	start_fairleadd
	let_go b "with $n pins exchanged"
done

# Killed between the two steps of a pin.
weights 1
hold c
weights 0
stop fairleadd
mv "$pins/link" "$pins/link_new"
ln "$pins/flow_sets4" "$pins/flow_sets4_new"
start_fairleadd
let_go c "with half a pin"
[ -e "$pins/link" ] || fail "the link is not pinned"
stop fairleadd
mv "$pins/link" "$pins/link_new"
on fe "$O/fairleadd" --teardown --instance "$ID"
has "$(on fe ip -o link show eth0)" mtu
[[ $(on fe ip -o link show eth0) != *xdp* ]] || fail "the program is still attached"
