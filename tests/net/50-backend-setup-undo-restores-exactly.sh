#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What backend-setup changed comes back, what was there before stays.
. "$(dirname "$0")/lib.sh"

snapshot() {
	on b1 sysctl -a --pattern '^net\.ipv[46]\.conf' 2> /dev/null
	on b1 ip addr show
	on b1 ip -d link show eth0 | grep -c xdp || true
}

# Keys of the answer of --show, but for those within its lists.
show_keys() {
	backend_setup b1 --json --show | sed 's/\[[^]]*\]//g' | grep -o '"[a-z_]*":'
}

scripts/topology up "$ID"
on b1 sysctl -qw net.ipv4.conf.eth0.rp_filter=1 net.ipv4.conf.all.arp_announce=1
on b1 ip addr add 203.0.113.20/32 dev lo
before=$(snapshot)

changes=$(backend_setup b1 --interface eth0 $VIP4 $VIP6 203.0.113.20)
equal "arp_ignore" 1 "$(sysctl_of b1 net.ipv4.conf.all.arp_ignore)"
equal "arp_announce" 2 "$(sysctl_of b1 net.ipv4.conf.all.arp_announce)"
equal "rp_filter" 2 "$(sysctl_of b1 net.ipv4.conf.eth0.rp_filter)"
for what in "net.ipv4.conf.all.arp_ignore" "net.ipv4.conf.all.arp_announce" \
	"net.ipv4.conf.eth0.rp_filter" "$VIP4 on lo" "$VIP6 on lo" \
	"XDP program on eth0"; do
	has "$changes" "$what"
done
[[ $changes != *"203.0.113.20 on lo"* ]] || fail "claims an address that was there"

# Later runs add, and remember what was before the first.
equal "second run" '{"changes":[]}' "$(backend_setup b1 --json $VIP4 $VIP6)"
has "$(backend_setup b1 203.0.113.11)" "203.0.113.11 on lo"

keys=$(show_keys)
backend_setup b1 --undo > "$RUN/undo.out"
equal "keys of --show" "$keys" "$(show_keys)"
equal "state after --undo" "$before" "$(snapshot)"
equal "pins" "" "$(find /sys/fs/bpf/fairlead-backend -mindepth 1)"
refused 1 "nothing to undo" -- backend_setup b1 --undo
