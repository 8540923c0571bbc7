#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Settings that are strict enough already stay as they are.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
on b1 sysctl -qw net.ipv4.conf.all.arp_ignore=2 net.ipv4.conf.all.arp_announce=2
on b1 sysctl -qw net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.all.rp_filter=0
changes=$(backend_setup b1 --interface eth0 $VIP4)
[[ $changes != *net.ipv4* ]] || fail "changed a sysctl: $changes"
equal "rp_filter" 0 "$(sysctl_of b1 net.ipv4.conf.eth0.rp_filter)"

# Strict on all interfaces counts for this one, and is raised on this one only.
on b2 sysctl -qw net.ipv4.conf.eth0.rp_filter=0 net.ipv4.conf.all.rp_filter=1
has "$(backend_setup b2 --interface eth0 $VIP4)" net.ipv4.conf.eth0.rp_filter
equal "all.rp_filter" 1 "$(sysctl_of b2 net.ipv4.conf.all.rp_filter)"
equal "eth0.rp_filter" 2 "$(sysctl_of b2 net.ipv4.conf.eth0.rp_filter)"
