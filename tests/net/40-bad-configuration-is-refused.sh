#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each mistake in a file gets one line with its place and what is allowed; by
# `check`, by a daemon that starts, and by `apply`, which then changes nothing.
. "$(dirname "$0")/lib.sh"

running_state() {
	fl --json vip show
	fl --json backend show
}

# bad LINE:COLUMN WORDS TEXT: what is printed for the file of that text.
bad() {
	local place="$RUN/bad.yaml:$1:" words=$2 before

	printf '%b' "$3" > "$RUN/bad.yaml"
	refused 1 "$place" "$words" -- fl check "$RUN/bad.yaml"
	before=$(running_state)
	refused 1 "$place" "$words" -- fl apply "$RUN/bad.yaml"
	equal "running state" "$before" "$(running_state)"
	if on fe "$O/fairleadd" --foreground --config "$RUN/bad.yaml" \
		--instance other > "$RUN/other.out" 2>&1; then
		fail "fairleadd runs with the bad file"
	fi
	one_line "$(cat "$RUN/other.out")"
	has "$(cat "$RUN/other.out")" "$place"
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd

vip='interface: eth0\nvips:\n  - address:'
bad 2:1 "'colour'" 'interface: eth0\ncolour: red\n'
bad 2:9 "auto, native, generic" 'interface: eth0\nattach: fast\n'
bad 2:1 "'interface'" 'interface: eth0\ninterface: eth1\n'
bad 1:1 "interface" 'attach: auto\n'
bad 2:8 "1024" 'interface: eth0\nflows: 5\n'
bad 2:11 "32 hexadecimal digits" 'interface: eth0\nhash_key: 00\n'
bad 3:14 "'203.0.113.300'" "$vip 203.0.113.300:80/tcp\n"
bad 3:14 "1 to 65535" "$vip 203.0.113.30:0/tcp\n"
bad 3:14 "1 to 65535" "$vip 203.0.113.30:65536/tcp\n"
bad 3:14 "tcp, udp" "$vip 203.0.113.30:80/sctp\n"
bad 4:5 "line 3" "$vip 203.0.113.30:80/tcp\n  - address: 203.0.113.30:80/tcp\n"
bad 3:5 "'nope'" "$vip 203.0.113.30:80/tcp\n    pool: nope\n"
bad 4:17 "997 and 1009" "$vip 203.0.113.30:80/tcp\n    table_size: 1000\n"
backends="$vip 203.0.113.30:80/tcp\n    backends:\n      - address: 10.1.0.11\n"
bad 6:9 "line 5" "$backends      - address: 10.1.0.11\n"
bad 6:17 "0 to 65535" "$backends        weight: 65536\n"
bad 6:17 "'-1'" "$backends        weight: -1\n"

refused 1 "/nowhere.yaml" "No such file" -- fl check /nowhere.yaml
refused 1 "/nowhere.yaml" "No such file" -- fl apply /nowhere.yaml
