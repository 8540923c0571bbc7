#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A value that is no longer the one that backend-setup wrote is not touched.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
backend_setup b1 --interface eth0 $VIP4 > "$RUN/setup.out"
on b1 sysctl -qw net.ipv4.conf.all.arp_ignore=8
on b1 ip addr del $VIP4/32 dev lo

warning=$(backend_setup b1 --undo 2>&1 > "$RUN/undo.out")
one_line "$warning"
has "$warning" "net.ipv4.conf.all.arp_ignore is 8"
equal "arp_ignore" 8 "$(sysctl_of b1 net.ipv4.conf.all.arp_ignore)"
equal "arp_announce" 0 "$(sysctl_of b1 net.ipv4.conf.all.arp_announce)"
