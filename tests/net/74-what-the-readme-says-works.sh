#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands of the README's section Use, one after the other, on a daemon that has
# the example configuration. Then its section Health: the configuration that it shows,
# the commands, and what watch prints.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# readme SECTION: its text.
readme() {
	sed -n "/^## $1/,/^## /p" README.md
}

# block [LANGUAGE]: of a section, what stands in blocks of it.
block() {
	awk -v fence="\`\`\`${1:-}" '/^```/ { take = !open && $0 == fence; open = !open; next } take'
}

# run_commands SECTION NUMBER: all but watch, which does not end.
run_commands() {
	local count=0 words

	while read -ra words; do
		count=$((count + 1))
		[ "${words[0]}" != watch ] || continue
		fl "${words[@]}" > "$RUN/answer" 2>&1 < /dev/null ||
			fail "fairlead ${words[*]}: $(cat "$RUN/answer")"
	done < <(readme "$1" | block sh | sed -n 's/^fairlead //p' | sed 's/ *#.*//')
	equal "commands in the section $1" "$2" "$count"
}

# watched FILE: what watch says there of web-2, without the times; shares climb meanwhile.
watched() {
	grep ' web-2 ' "$1" | grep -v backend_share | sed 's/^[^ ]*Z //'
}

up_down_told() { [ "$(watched "$RUN/watch.log" | wc -l)" = 2 ]; }

scripts/topology up "$ID"
cp docs/fairlead.yaml.example "$RUN/fairlead.yaml"
start_fairleadd
run_commands Use 5

has "$(fl -o backend show 203.0.113.10:443/tcp)" "address 10.1.0.11 weight 2"
stop fairleadd

for host in b1 b2 b3; do
	backend_setup $host --interface eth0 $VIP4 > "$RUN/$host.setup"
	start_http $host
	echo well > "$RUN/$host-http/html/health"
done
readme Health | block yaml > "$RUN/fairlead.yaml"
start_fairleadd
for host in web-1 web-2 web-3; do
	wait_for $host effective up
done
run_commands Health 4
start watch fe "$O/fairlead" --instance "$ID" watch
wait_until 10 watches || fail "fairlead watch does not run"
stop b2-http KILL
wait_for web-2 effective down 30
start_http b2
wait_for web-2 effective up 30
wait_until 10 up_down_told || fail "watch has told: $(cat "$RUN/watch.log")"
readme Health | block > "$RUN/readme-watch"
equal "what watch prints" "$(watched "$RUN/readme-watch")" "$(watched "$RUN/watch.log")"
