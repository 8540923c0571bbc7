#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Generic mode balances; native is refused where the driver has none, auto falls
# back there with a warning; another program on the interface is named by its id.
. "$(dirname "$0")/lib.sh"

pins() {
	find /sys/fs/bpf \( -path '*fairlead*' -o -path '*dispatch*' \) ! -type d
}

# config INTERFACE MODE
config() {
	write_config 4 ipip $VIP4:80/tcp
	sed -i -e "s/^interface: .*/interface: $1/" -e "s/^attach: .*/attach: $2/" \
		"$RUN/fairlead.yaml"
}

cannot_start() {
	refused 1 "$@" -- on fe timeout $((20 * SLOWER)) "$O/fairleadd" --foreground \
		--config "$RUN/fairlead.yaml" --instance "$ID"
	equal "pins" "" "$(pins)"
}

scripts/topology up "$ID"
on fe ip link add br9 type bridge
on fe ip link set br9 up
config br9 native
cannot_start "'br9'" "native"
[[ "$(on fe ip link show br9)" != *xdp* ]] || fail "a program is attached"

config br9 auto
start_fairleadd
grep -q "warning: interface 'br9': no native XDP" "$RUN/fairleadd.log" ||
	fail "there is no warning"
has "$(fl --json show status)" '"attach":"generic"'
stop fairleadd
on fe "$O/fairleadd" --teardown --instance "$ID"

config eth0 auto
on fe ip link set dev eth0 xdpdrv obj "$O/pass.bpf.o" sec xdp
id=$(on fe ip -details link show eth0 | sed -n 's/.*prog\/xdp id \([0-9]*\).*/\1/p')
cannot_start "'eth0' already has an XDP program (id $id)"
on fe ip link set dev eth0 xdp off

config eth0 generic
backends $VIP4
start_fairleadd
has "$(fl --json show status)" '"attach":"generic"'
has "$(on fe ip link show eth0)" xdpgeneric
check_http_spread $VIP4
