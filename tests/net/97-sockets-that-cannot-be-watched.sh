#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When the kernel refuses for a while to watch sockets (max_user_watches), checks are put
# off, and go on when it does so no more.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

command -v strace > /dev/null || skip "needs strace"
hostile reply 8080 $'HTTP/1.1 200 OK\r\n\r\nwell'

put_off() { grep -q "cannot watch a socket: no space left on device; putting off" "$RUN/checker.log"; }
passes_go_on() { [ "$(grep -c '"id":1,"ok":true' "$RUN/many.log")" -ge $((before + 5)) ]; }

before=0
probe 1 http 127.0.0.1 8080 > "$RUN/probes"
start_checks "$RUN/probes"
wait_until 20 passes_go_on || fail "no results"
strace -qq -p "$(pgrep -xo fairlead-check)" -o /dev/null \
	-e trace=epoll_ctl -e inject=epoll_ctl:error=ENOSPC &
tracer=$!
wait_until 20 put_off || fail "nothing is said: $(tail -n 3 "$RUN/many.log")"
kill $tracer
wait $tracer || true
before=$(grep -c '"id":1,"ok":true' "$RUN/many.log")
wait_until 20 passes_go_on || fail "no check passes any more: $(tail -n 3 "$RUN/many.log")"
if grep '"ok":false' "$RUN/many.log"; then
	fail "a check fails because a socket cannot be watched"
fi
