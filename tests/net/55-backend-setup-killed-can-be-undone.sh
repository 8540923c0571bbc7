#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A run that was killed between any two of its changes is undone exactly.
. "$(dirname "$0")/lib.sh"

snapshot() {
	on b1 sysctl -a --pattern '^net\.ipv4\.conf' 2> /dev/null
	on b1 ip addr show
	on b1 ip -d link show eth0 | grep -c xdp || true
	find /sys/fs/bpf -mindepth 2
}

undo_if_needed() {
	local said

	said=$(backend_setup b1 --undo 2>&1) && return
	has "$said" "nothing to undo"
}

scripts/topology up "$ID"
on b1 sysctl -qw net.ipv4.conf.eth0.rp_filter=1
before=$(snapshot)

run_for() {
	timeout -s KILL "$1" nsenter --net="/run/netns/fl$ID-b1" "$O/fairlead" \
		--instance "$ID-b1" backend-setup --interface eth0 \
		203.0.113.{1..40}
}

# Killed after 0, 1, 2... ms, until it is fast enough to be done before that.
complete=0 killed=0
for ms in {0..200}; do
	# The shell's own word on the kill goes the same way.
	if (run_for "$(printf '0.%03d1' "$ms")") > /dev/null 2>&1; then
		complete=$((complete + 1))
	else
		killed=$((killed + 1))
	fi
	undo_if_needed
	equal "host, killed after $ms ms" "$before" "$(snapshot)"
	[ "$complete" -lt 3 ] || break
done
[ "$killed" -gt 0 ] || fail "no run was ever killed"
