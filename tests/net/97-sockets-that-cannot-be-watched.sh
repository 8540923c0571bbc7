#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When the kernel refuses for a while to watch sockets (max_user_watches), checks are put
# off, and go on when it does so no more.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

hostile reply 8080 $'HTTP/1.1 200 OK\r\n\r\nwell'

put_off() { grep -q "cannot watch a socket: no space left on device; putting off" "$RUN/checker.log"; }
passes_go_on() { [ "$(grep -c '"id":1,"ok":true' "$RUN/many.log")" -ge $((before + 5)) ]; }

before=0
probe 1 http 127.0.0.1 8080 > "$RUN/probes"
export NO_WATCHES=/run/no-watches # whom fairlead-check runs as may look there
export LD_PRELOAD=$PWD/$O/tests/net/failing_watches.so
start_checks "$RUN/probes"
unset LD_PRELOAD
wait_until 20 passes_go_on || fail "no results"
touch "$NO_WATCHES"
wait_until 20 put_off || fail "nothing is said: $(tail -n 3 "$RUN/many.log")"
rm "$NO_WATCHES"
before=$(grep -c '"id":1,"ok":true' "$RUN/many.log")
wait_until 20 passes_go_on || fail "no check passes any more: $(tail -n 3 "$RUN/many.log")"
if grep '"ok":false' "$RUN/many.log"; then
	fail "a check fails because a socket cannot be watched"
fi
