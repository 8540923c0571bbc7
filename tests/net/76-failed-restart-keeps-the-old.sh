#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A daemon that finds a running data plane and cannot apply its file leaves it as
# it was: every map, the program, and the hash key that the next daemon goes by.
. "$(dirname "$0")/lib.sh"

state() {
	local map id

	for map in config vips4 tables; do
		bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/$map" | sort
	done
	for id in 1 2 3 4; do
		bpftool map lookup pinned "/sys/fs/bpf/fairlead/$ID/backends" key $id 0 0 0
	done
	on fe ip -details link show eth0 | grep -o 'prog/xdp id [0-9]*'
}

balanced 4 ipip $VIP4
stop fairleadd KILL
before=$(state)
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
sed -i -e 's/^interface: .*/interface: eth9/' -e 's/^hash_key: 00/hash_key: ff/' \
	-e '/name: b3/d' -e "s/$VIP4:80/203.0.113.99:80/" "$RUN/fairlead.yaml"
if on fe "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" \
	--instance "$ID" > "$RUN/second.out" 2>&1; then
	fail "fairleadd runs on an interface that does not exist"
fi
has "$(cat "$RUN/second.out")" "'eth9' does not exist"
equal "state" "$before" "$(state)"
check_http_spread $VIP4

# A key that is taken is remembered.
sed 's/^hash_key: 00/hash_key: ff/' "$RUN/good.yaml" > "$RUN/fairlead.yaml"
start_fairleadd
grep -q "warning: hash_key differs" "$RUN/fairleadd.log" || fail "there is no warning"
stop fairleadd KILL
start_fairleadd
! grep -q "warning: hash_key differs" "$RUN/fairleadd.log" || fail "the key was forgotten"
check_http_spread $VIP4
