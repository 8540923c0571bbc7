#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# IPv6 HTTP through GUE variant 1 over IPv4: every request is answered, every
# backend has its share, and long streams arrive whole in both directions.
. "$(dirname "$0")/lib.sh"

balanced 4 gue1 $VIP6
check_http_spread $VIP6
check_http_download $VIP6
check_upload $VIP6
for host in b1 b2 b3; do
	[ "$(decap_counter $host stripped_gue1)" -gt 0 ] || fail "$host has stripped no GUE variant 1 packet"
	equal "other packets stripped by $host" "0 0" \
		"$(decap_counter $host stripped_ipip) $(decap_counter $host stripped_gue)"
done
