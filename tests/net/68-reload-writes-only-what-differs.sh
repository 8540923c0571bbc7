#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SIGHUP with an unchanged file writes no map element; a change that fails late
# leaves every element as it was, outer addresses among them.
. "$(dirname "$0")/lib.sh"

status_field() {
	on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead-ro.sock" \
		<<< '{"verb": "show.status"}' | grep -o "\"$1\":[0-9]*" | grep -o '[0-9]*$'
}

applied() {
	[ "$(status_field changes_applied)" = "$1" ]
}

backends_map() {
	local id

	for id in 1 2 3; do
		bpftool map lookup pinned "/sys/fs/bpf/fairlead/$ID/backends" key $id 0 0 0
	done
}

resolved() {
	[ "$(status_field backends_unresolved)" = 0 ]
}

balanced 4 ipip $VIP4
wait_until 10 resolved || fail "the backends are not resolved"
writes=$(status_field map_writes)
for i in 1 2 3; do
	changes=$(status_field changes_applied)
	kill -HUP "$(cat "$RUN/fairleadd.pid")"
	wait_until 10 applied $((changes + 1)) || fail "reload $i was not done"
done
equal "map writes" "$writes" "$(status_field map_writes)"

before=$(backends_map)
sed -e 's/^interface: eth0/interface: eth9/' "$RUN/fairlead.yaml" > "$RUN/bad.yaml"
echo "tunnel_source: {ipv4: 10.1.0.77}" >> "$RUN/bad.yaml"
refused 1 "'eth9'" -- fl apply "$RUN/bad.yaml"
equal "backends" "$before" "$(backends_map)"
equal "changes failed" 1 "$(status_field changes_failed)"

# And one that succeeds is seen in the packets' outer source address.
sed -i 's/eth9/eth0/' "$RUN/bad.yaml"
fl apply "$RUN/bad.yaml" > "$RUN/apply.out"
has "$(backends_map)" "[10,1,0,77,"
check_http_spread $VIP4
