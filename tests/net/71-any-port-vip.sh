#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A VIP of any port takes every port of its protocol that has no VIP of its own.
. "$(dirname "$0")/lib.sh"

only_b2() {
	[ "$(http_spread $VIP4 20 | awk '{ print $2 }' | paste -sd' ')" = b2 ]
}

all_again() {
	[ "$(http_spread $VIP4 60 | awk '{ print $2 }' | paste -sd' ')" = "b1 b2 b3" ]
}

scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip $VIP4:any/tcp
start_fairleadd
check_http_spread $VIP4
check_upload $VIP4

fl vip add $VIP4:80/tcp
fl backend add $VIP4:80/tcp 10.1.0.12
wait_until 10 only_b2 || fail "the VIP of port 80 does not come first"
fl vip del $VIP4:80/tcp
wait_until 10 all_again || fail "port 80 does not go to the VIP of any port"

before=$(drop_counter no_service)
ask_udp $VIP4 9999 hello && fail "UDP was answered"
[ "$(drop_counter no_service)" -gt "$before" ] || fail "the drop was not counted"

fl vip del $VIP4:any/tcp
fl vip add $VIP4:81/tcp pool web
before=$(drop_counter no_service)
on client curl -s --connect-timeout 0.5 "http://$VIP4/" && fail "port 80 was answered"
[ "$(drop_counter no_service)" -gt "$before" ] || fail "the drop was not counted"
