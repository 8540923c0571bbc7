#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# After hundreds of changes, good ones and refused ones, the daemon has as many open
# files and the kernel as many tables as before.
. "$(dirname "$0")/lib.sh"

handles() {
	echo "$(find "/proc/$(cat "$RUN/fairleadd.pid")/fd" -type l | wc -l) files," \
		"$(bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/tables" |
			grep -c value:) tables"
}

# change VERB ARGS
change() {
	printf '{"verb": "%s", "args": {%s}}\n' "$1" "$2"
}

changes() {
	local i vip='"vip": "203.0.113.77:80/tcp"' target='"target": "203.0.113.77:80/tcp"'

	for i in {1..200}; do
		change backend.set "\"target\": \"web\", \"address\": \"b1\", \"options\": {\"weight\": \"$((1 + i % 5))\"}"
	done
	for i in {1..25}; do
		change vip.add "$vip"
		change backend.add "$target, \"address\": \"10.1.0.11\""
		change backend.add "$target, \"address\": \"10.1.0.300\""
		change vip.del "$vip"
		change apply '"file": "x", "yaml": "interface: eth9\nvips: [{address: \"203.0.113.99:80/tcp\"}]"'
	done
	change backend.set '"target": "web", "address": "b1", "options": {"weight": "1"}'
}

all_answered() {
	[ "$(grep -c '"ok"' "$RUN/answers")" = 326 ]
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
before=$(handles)
changes > "$RUN/changes"
start changes fe socat "OPEN:$RUN/changes,rdonly,ignoreeof!!OPEN:$RUN/answers,creat" \
	"UNIX-CONNECT:/run/fairlead/$ID/fairlead.sock"
wait_until 60 all_answered || fail "not all changes were answered"
stop changes
equal "refused changes" 50 "$(grep -c '"ok":false' "$RUN/answers")"
back() { [ "$(handles)" = "$before" ]; }
wait_until 10 back || fail "there were $before, there are $(handles)"
