#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# No more than 64 commands run at once. That others wait for longer than the interval of
# their check is said, once a minute.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

for id in {1..80}; do
	TIMEOUT=250000 probe "$id" exec 127.0.0.1 0 '"args":["/bin/sleep","1000"]'
done > "$RUN/probes"
start_checks "$RUN/probes" --allow-exec
told() { grep -q "the command for backend '127.0.0.1' waits for its turn for longer" "$RUN/checker.log"; }
wait_until 30 told || fail "nothing is said of commands that wait"
has "$(cat "$RUN/checker.log")" "64 commands run, and no more may"
equal "lines" 1 "$(grep -c waits "$RUN/checker.log")"
equal "results" 0 "$(wc -l < "$RUN/many.log")"
stop many
