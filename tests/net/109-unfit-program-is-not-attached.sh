#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An upgrade to a program that fails its self-test is refused in words; the program
# that runs goes on, with every connection, and so does the next good one. So does one
# that passes everything on, and would balance nothing. What the self-test sends is in
# no counter and no flow map.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

program_id() { bpftool link show pinned "/sys/fs/bpf/fairlead/$ID/link" | grep -o 'prog [0-9]*'; }

# refused_as_unfit WAY: fairleadd finds the program so, and ends.
refused_as_unfit() {
	local status=0 pins=/sys/fs/bpf/fairlead/$ID

	UNFIT=$1 LD_PRELOAD=$PWD/$O/tests/net/failing_self_test.so on fe \
		timeout $((60 * SLOWER)) "$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" \
		--instance "$ID" > "$RUN/refused.log" 2>&1 || status=$?
	equal "exit status" 1 "$status"
	has "$(cat "$RUN/refused.log")" "failed its self-test"
	has "$(cat "$RUN/refused.log")" "it is not attached"
	equal "errors" 1 "$(grep -c error: "$RUN/refused.log")"
	[ -z "${before:-}" ] || equal "the program that balances" "$before" "$(program_id)"
	[ -n "${before:-}" ] || [ ! -e "$pins" ] || fail "a first start left $(ls "$pins")"
}

# passed: packets for no VIP that were handed on, of all CPUs.
passed() {
	bpftool -j map dump pinned "/sys/fs/bpf/fairlead/$ID/totals" |
		grep -o '"passed":[0-9]*' | awk -F: '{ sum += $2 } END { print sum }'
}

scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:81/tcp"
refused_as_unfit aborts
refused_as_unfit passes

start_fairleadd
start_streams $VIP4 50 10
before=$(program_id)
stop fairleadd KILL
refused_as_unfit aborts
refused_as_unfit passes
streams_go_on

start_fairleadd
[ "$(program_id)" != "$before" ] || fail "the good program did not take over"
streams_go_on
stop_streams

# Nobody's packets come by an interface that is down.
stop fairleadd
on fe ip link set eth0 down
counted=$(passed)
for form in lru-hash sets; do
	sed -i '/^conntrack/d' "$RUN/fairlead.yaml"
	echo "conntrack: $form" >> "$RUN/fairlead.yaml"
	start_fairleadd
	equal "passed by the self-test" "$counted" "$(passed)"
	stop fairleadd
done
