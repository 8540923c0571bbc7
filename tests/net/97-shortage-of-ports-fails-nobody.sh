#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# When local ports run out, checks are put off, which is said; no backend has failed for
# that, and checks go on when there are ports again.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

hostile silent 2527
hostile udp-other 5354 "PONG"

put_off() { grep -q "cannot connect: no local address or port is free; putting off" "$RUN/checker.log"; }
passed() { grep -q '"id":1000,"ok":true' "$RUN/many.log"; }

# short KIND PORT MEMBERS WELL: more checks than there are ports hang, and then one comes
# that would pass, WELL.
short() {
	local id

	sysctl -qw net.ipv4.ip_local_port_range="40000 40019"
	for id in {1..30}; do
		TIMEOUT=250000 probe "$id" "$1" 127.0.0.1 "$2" "$3"
	done > "$RUN/probes"
	# shellcheck disable=SC2086
	INTERVAL=1000 probe 1000 $4 >> "$RUN/probes"
	start_checks "$RUN/probes"
	wait_until 20 put_off || fail "$1: nothing is said: $(cat "$RUN/checker.log" "$RUN/many.log")"
	sysctl -qw net.ipv4.ip_local_port_range="40000 40099"
	wait_until 20 passed || fail "$1: the one that is well is not checked"
	if grep '"ok":false' "$RUN/many.log"; then
		fail "$1: a check fails because local ports are short"
	fi
	equal "lines of $1" 1 "$(grep -c 'putting off' "$RUN/checker.log")"
	stop many
}
short tcp 2527 '"receive":"220"' "tcp 127.0.0.1 2527"
short http 2527 '' "tcp 127.0.0.1 2527"
short https 2527 '' "tcp 127.0.0.1 2527"
# Of UDP, ports are one space for all servers.
hostile udp 5353 "PONG"
short udp 5354 '"send":"PING"' 'udp 127.0.0.1 5353 "send":"PING"'
