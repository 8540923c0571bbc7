#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A check whose result is not what was settled runs again after its fast_interval until
# it is, and from then on each interval; one that several pools share is run until it is
# settled for all of them. An interval of an hour makes sure that nothing else runs it.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

HOUR='"interval":3600000'
hostile reply 8080 $'HTTP/1.1 200 OK\r\n\r\nwell'

# slow_probe ID PORT FALL: once an hour, and each tenth of a second.
slow_probe() {
	probe "$1" tcp 127.0.0.1 "$2" |
		sed "s/\"interval\":100/$HOUR,\"fast_interval\":100/; s/\"fall\":1/\"fall\":$3/"
}

# Dead from the start: as many runs as settle it, and not one more while another check
# is run a hundred times.
{
	slow_probe 1 8081 4
	slow_probe 2 8080 4
	probe 3 tcp 127.0.0.1 8080
} > "$RUN/probes"
runs() { grep -c "\"id\":$1,\"ok\":$2" "$RUN/many.log" || true; }
other_ran() { [ "$(runs 3 true)" -ge "$1" ]; }
settled() { [ "$(runs 1 false)" = 4 ]; }
start_checks "$RUN/probes"
wait_until 30 settled || fail "a check that fails ran $(runs 1 false) times, and not 4"
wait_until 60 other_ran $(($(runs 3 true) + 100)) || fail "the other check does not run"
equal "runs of the check that fails" 4 "$(runs 1 false)"
equal "runs of the check that passes" 1 "$(runs 2 true)"
stop many
