#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An upgrade to a program that fails its self-test is refused in words; the program
# that runs goes on, with every connection, and so does the next good one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

program_id() { bpftool link show pinned "/sys/fs/bpf/fairlead/$ID/link" | grep -o 'prog [0-9]*'; }

scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:81/tcp"
start_fairleadd
start_streams $VIP4 50 10
before=$(program_id)
stop fairleadd KILL

status=0
LD_PRELOAD=$PWD/$O/tests/net/failing_self_test.so on fe "$O/fairleadd" --foreground \
	--config "$RUN/fairlead.yaml" --instance "$ID" > "$RUN/refused.log" 2>&1 || status=$?
[ "$status" != 0 ] && [ "$status" -lt 128 ] || fail "it ended with $status"
has "$(cat "$RUN/refused.log")" "failed its self-test"
equal "the program that balances" "$before" "$(program_id)"
streams_go_on

start_fairleadd
[ "$(program_id)" != "$before" ] || fail "the good program did not take over"
streams_go_on
stop_streams
