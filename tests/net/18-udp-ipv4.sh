#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An IPv4 datagram to the VIP is answered from the VIP, by more than one backend.
. "$(dirname "$0")/lib.sh"

balanced 4 ipip $VIP4
for host in b1 b2 b3; do
	start_udp_echo $host $VIP4 7777
done

for i in {1..30}; do
	answer=$(ask_udp $VIP4 7777 "hello $i") || fail "datagram $i was not answered"
	[[ $answer =~ ^b[123]:\ hello\ $i$ ]] || fail "datagram $i was answered with '$answer'"
	echo "${answer%%:*}" >> "$RUN/answers"
done
[ "$(sort -u "$RUN/answers" | wc -l)" -gt 1 ] || fail "one backend has had all 30 flows"
