#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Without --foreground the command returns when the daemon answers, with status 0,
# or when it cannot start, with another status and the reason.
. "$(dirname "$0")/lib.sh"

answers() {
	fl show status > "$RUN/status" 2>&1
}

not_answering() { ! answers; }

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
# Its output is a pipe here, which must not stay open.
out=$(on fe "$O/fairleadd" --config "$RUN/fairlead.yaml" --instance "$ID" 2>&1) ||
	fail "it ended with $?: $out"
answers || fail "the daemon was not ready"
fl --json show status | grep -o '"pid":[0-9]*' | grep -o '[0-9]*$' > "$RUN/fairleadd.pid"

refused 1 "(pid $(cat "$RUN/fairleadd.pid"))" -- \
	on fe "$O/fairleadd" --config "$RUN/fairlead.yaml" --instance "$ID"
stop fairleadd
wait_until 10 not_answering || fail "it answers after its end"

echo "colour: red" >> "$RUN/fairlead.yaml"
refused 78 "'colour'" -- on fe "$O/fairleadd" --config "$RUN/fairlead.yaml" --instance "$ID"
not_answering || fail "a daemon runs with the bad file"
