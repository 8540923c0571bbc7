#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 1,000 changes of weight, each a new table, under load: no request fails, and no
# packet ever finds its VIP without a table.
. "$(dirname "$0")/lib.sh"

changes_applied() {
	fl --json show status | grep -o '"changes_applied":[0-9]*' | grep -o '[0-9]*$'
}

# One line a change, for the control socket.
changes() {
	local i

	for i in {1..1000}; do
		printf '{"id": %d, "verb": "backend.set", "args": {"target": "web", ' "$i"
		printf '"address": "b%d", "options": {"weight": "%d"}}}\n' \
			$((1 + i % 2)) $((1 + i % 7))
	done
}

answers() {
	grep -Ec '"ok": ?true' "$RUN/swaps.log" || true
}

all_answered() {
	[ "$(answers)" = 1000 ] || ! running swaps
}

balanced 4 ipip $VIP4
start_load $VIP4
before=$(changes_applied)

changes > "$RUN/changes"
start swaps fe socat "OPEN:$RUN/changes,rdonly,ignoreeof!!STDOUT" \
	"UNIX-CONNECT:/run/fairlead/$ID/fairlead.sock"
wait_until 200 all_answered || fail "only $(answers) of 1000 changes were made"
equal "changes made" 1000 "$(answers)"
stop swaps

load_goes_on
stop_load
equal "changes applied" $((before + 1000)) "$(changes_applied)"
for reason in table_missing no_backend backend_invalid backend_unresolved; do
	equal "$reason" 0 "$(drop_counter $reason)"
done
