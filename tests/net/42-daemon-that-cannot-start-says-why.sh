#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A daemon that cannot start says so in one line, and leaves the one that runs, the
# host and other programs' pins alone.
. "$(dirname "$0")/lib.sh"

# cannot WORDS OPTION...: in a second daemon.
cannot() {
	local words=$1 before

	shift
	before=$(pins)
	if on fe "$@" > "$RUN/second.out" 2>&1; then
		fail "'$*' started"
	fi
	one_line "$(cat "$RUN/second.out")"
	has "$(cat "$RUN/second.out")" "$words"
	equal "pins" "$before" "$(pins)"
}

pins() {
	find /sys/fs/bpf -path '*fairlead*' ! -type d | sort
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
daemon=("$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance)

sed s/eth0/eth9/ "$RUN/fairlead.yaml" > "$RUN/eth9.yaml"
cannot "$RUN/eth9.yaml:1:1: interface 'eth9' does not exist; there are: lo, eth0" "$O/fairleadd" --foreground \
	--config "$RUN/eth9.yaml" --instance other
cannot "root" setpriv --reuid=65534 --clear-groups "${daemon[@]}" other
refused 64 "letters, digits" -- on fe "${daemon[@]}" other/..

start_fairleadd
cannot "(pid $(cat "$RUN/fairleadd.pid"))" "${daemon[@]}" "$ID"
cannot "'eth0' already has an XDP program (id " "${daemon[@]}" other
has "$(fl show status)" "$ID"
