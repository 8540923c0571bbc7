#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is not for a VIP reaches the front-end host as if no balancer were there,
# and what is for a VIP address without a service goes no further.
. "$(dirname "$0")/lib.sh"

balanced 4 ipip $VIP4
start_http fe
equal "front-end's own server" fe "$(on client curl -sS --max-time 5 http://10.1.0.2/)"

equal "no_service" 0 "$(drop_counter no_service)"
if on client curl -s --connect-timeout 1 "http://$VIP4:8080/"; then
	fail "a port without a service was answered"
fi
[ "$(drop_counter no_service)" -gt 0 ] || fail "the drop was not counted"
