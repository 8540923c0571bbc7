#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each wrong word of the command line gets one sentence that names it.
. "$(dirname "$0")/lib.sh"

b1() {
	backend_setup b1 "$@"
}

scripts/topology up "$ID"
refused 64 "no VIP address" -- b1
refused 64 "'203.0.113.300'" "allowed" -- b1 --interface eth0 203.0.113.300
refused 64 "'224.0.0.1'" "multicast" -- b1 --interface eth0 224.0.0.1
refused 64 "'127.0.0.1'" "loopback" -- b1 --interface eth0 127.0.0.1
refused 64 "'::1'" "loopback" -- b1 --interface eth0 ::1
refused 64 "'203.0.113.10/24'" -- b1 --interface eth0 203.0.113.10/24
refused 1 "'203.0.113.10'" "twice" -- b1 --interface eth0 203.0.113.10 203.0.113.10
refused 64 "'--fast'" "--no-decap" -- b1 --fast $VIP4
refused 64 "--gue-port needs a value" -- b1 $VIP4 --gue-port
refused 1 "'65536'" "1 to 65535" -- b1 --interface eth0 --gue-port 65536 $VIP4
refused 1 "'0'" "1 to 65535" -- b1 --interface eth0 --gue-port=0 $VIP4
refused 64 "--undo takes no other" -- b1 --undo $VIP4
refused 64 "--show takes no other" -- b1 --show --interface eth0
refused 1 "--interface" "no default route" -- b1 $VIP4
refused 1 "nothing to undo" "'$ID-b1'" -- b1 --undo
refused 77 "root" -- on b1 setpriv --reuid=65534 --clear-groups \
	"$O/fairlead" --instance "$ID-b1" backend-setup --interface eth0 $VIP4

# With one default route there is no need to name the interface.
on b1 ip route add default via 10.1.0.100
has "$(b1 $VIP4)" "XDP program on eth0"
refused 1 "is set up on interface 'eth0'" -- b1 --interface lo $VIP4
refused 1 "port 6080" -- b1 --gue-port 7000 $VIP4
refused 1 "another network namespace" -- on b2 "$O/fairlead" \
	--instance "$ID-b1" backend-setup --undo
