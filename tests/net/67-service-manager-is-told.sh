#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With NOTIFY_SOCKET the daemon says when it is ready, reloads and stops.
. "$(dirname "$0")/lib.sh"

told() {
	[ "$(grep -ao "$1" "$RUN/told" | wc -l)" -ge "$2" ]
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start manager fe socat -u "UNIX-RECV:$RUN/notify" "OPEN:$RUN/told,creat,append"
wait_until 10 test -S "$RUN/notify" || fail "socat does not listen"
NOTIFY_SOCKET=$RUN/notify start_fairleadd
wait_until 10 told READY=1 1 || fail "READY=1 is missing"
! told STOPPING=1 1 || fail "it said that it stops"

kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 told 'RELOADING=1' 1 || fail "RELOADING=1 is missing"
told 'MONOTONIC_USEC=[1-9]' 1 || fail "MONOTONIC_USEC is missing"
wait_until 10 told READY=1 2 || fail "READY=1 after the reload is missing"

# A reload that fails is over, too.
echo "colour: red" >> "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 told READY=1 3 || fail "READY=1 after the failed reload is missing"
stop fairleadd
wait_until 10 told STOPPING=1 1 || fail "STOPPING=1 is missing"
