#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Another attach mode or interface in the file is taken by SIGHUP; one that the
# interface cannot do is refused, and the program stays where it was.
. "$(dirname "$0")/lib.sh"

attached() {
	fl --json show status | grep -q "\"interface\":\"$1\",\"attach\":\"$2\""
}

# reload INTERFACE MODE
reload() {
	sed -i -e "s/^interface: .*/interface: $1/" -e "s/^attach: .*/attach: $2/" \
		"$RUN/fairlead.yaml"
	kill -HUP "$(cat "$RUN/fairleadd.pid")"
}

xdp_on() {
	on fe ip link show "$1" | grep -o 'xdp[a-z]* ' | head -n 1 || true
}

refused_native() {
	grep -q "error: reload failed, nothing is changed: .*'br9' in native mode" \
		"$RUN/fairleadd.log"
}

balanced 4 ipip $VIP4
on fe ip link add br9 type bridge
on fe ip link set br9 up

# Whoever else holds the old link does not keep its program on the interface.
hold() {
	bpftool link pin pinned "/sys/fs/bpf/fairlead/$ID/link" "/sys/fs/bpf/held$1"
}

hold 1
reload eth0 generic
wait_until 10 attached eth0 generic || fail "generic mode was not taken"
has "$(on fe ip link show eth0)" xdpgeneric
check_http_spread $VIP4
hold 2
reload eth0 native
wait_until 10 attached eth0 native || fail "native mode was not taken"
[[ "$(on fe ip link show eth0)" != *xdpgeneric* ]] || fail "generic mode is still on"
check_http_spread $VIP4

hold 3
reload br9 generic
wait_until 10 attached br9 generic || fail "the other interface was not taken"
has "$(on fe ip link show br9)" xdpgeneric
[[ "$(on fe ip link show eth0)" != *xdp* ]] || fail "eth0 still has a program"

reload br9 native
wait_until 10 refused_native || fail "native mode was not refused"
attached br9 generic || fail "status says something else"
has "$(on fe ip link show br9)" xdpgeneric
stop fairleadd KILL
has "$(on fe ip link show br9)" xdpgeneric

sed -i -e "s/^interface: .*/interface: eth0/" "$RUN/fairlead.yaml"
start_fairleadd
[[ "$(on fe ip link show br9)" != *xdp* ]] || fail "br9 still has a program"
check_http_spread $VIP4
