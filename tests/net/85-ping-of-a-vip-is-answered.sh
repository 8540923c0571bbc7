#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A VIP answers ping over both families, whatever the size, while no backend sees
# any of it; an address that no VIP has does not. With icmp_rate 0 none does, from
# the first start on and when the next daemon adopts what runs.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
backends $VIP4 $VIP6
write_config 4 ipip "$VIP4:80/tcp" "[$VIP6]:80/tcp"
start_fairleadd

# echos HOST: echo requests that its kernel has got.
echos() {
	on "$1" nstat -asz IcmpInEchos Icmp6InEchos |
		awk '/^Icmp/ { sum += $2 } END { print sum }'
}

on client ping -q -n -c 1 -w 10 10.1.0.2 > /dev/null
equal "echo requests that the front-end host has got" 1 "$(echos fe)"
before=$(for host in b1 b2 b3 fe; do echos $host; done)
for address in $VIP4 $VIP6; do
	for size in 0 1 56 57 1400; do
		on client ping -q -n -c 5 -i 0.01 -w 10 -s $size $address > "$RUN/ping" ||
			fail "ping of $address with $size bytes: $(cat "$RUN/ping")"
		has "$(cat "$RUN/ping")" " 5 received, 0% packet loss"
	done
done
# Every byte value, as ping fills the payload, and all zeros.
on client ping -q -n -c 1 -w 10 -p 00 -s 8 $VIP4 > /dev/null || fail "zeros were not answered"
equal "echo requests that reached a host" "$before" \
	"$(for host in b1 b2 b3 fe; do echos $host; done)"

if on client ping -q -n -c 1 -W 1 203.0.113.99 > /dev/null; then
	fail "an address that no VIP has was answered"
fi

sed -i "s|\({address: \"$VIP4:80/tcp\"\)|\1, echo: false|" "$RUN/fairlead.yaml"
fl apply "$RUN/fairlead.yaml"
if on client ping -q -n -c 1 -W 1 $VIP4 > /dev/null; then
	fail "a VIP that should not answer ping has answered"
fi
equal "echo_off" 1 "$(drop_counter echo_off)"
on client ping -q -n -c 1 -w 10 $VIP6 > /dev/null || fail "the other VIP does not answer now"

# The next daemon's rate, on the data plane of the one before.
restart_with_rate() {
	stop fairleadd
	sed -i -e '/^icmp_rate:/d' -e "s/^flows: .*/&\nicmp_rate: $1/" "$RUN/fairlead.yaml"
	start_fairleadd
}

restart_with_rate 0
grep -q "adopted the data plane" "$RUN/fairleadd.log" || fail "nothing was adopted"
if on client ping -q -n -c 1 -W 1 $VIP6 > /dev/null; then
	fail "a ping was answered with icmp_rate 0"
fi
equal "icmp_limit" 1 "$(drop_counter icmp_limit)"
restart_with_rate 10
on client ping -q -n -c 1 -w 10 $VIP6 > /dev/null || fail "no answer with icmp_rate 10"

restart_with_rate 0
stop fairleadd
on fe "$O/fairleadd" --teardown --instance "$ID"
start_fairleadd
if on client ping -q -n -c 1 -W 1 $VIP6 > /dev/null; then
	fail "a ping was answered after a first start with icmp_rate 0"
fi
equal "icmp_limit of the first start" 1 "$(drop_counter icmp_limit)"
