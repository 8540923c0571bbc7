#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The commands of the README's section Use, one after the other, on a daemon
# that has the example configuration.
. "$(dirname "$0")/lib.sh"

readme_commands() {
	sed -n '/^## Use/,/^## /s/^fairlead //p' README.md | sed 's/ *#.*//'
}

scripts/topology up "$ID"
cp docs/fairlead.yaml.example "$RUN/fairlead.yaml"
start_fairleadd

count=0
while read -ra words; do
	fl "${words[@]}" > "$RUN/answer" 2>&1 < /dev/null ||
		fail "fairlead ${words[*]}: $(cat "$RUN/answer")"
	count=$((count + 1))
done < <(readme_commands)
equal "commands in the README" 5 "$count"

has "$(fl -o backend show 203.0.113.10:443/tcp)" "address 10.1.0.11 weight 2"
