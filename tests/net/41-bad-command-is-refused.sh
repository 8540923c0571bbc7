#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each wrong command gets one line that names the word and what is allowed, and
# changes nothing.
. "$(dirname "$0")/lib.sh"

running_state() {
	fl --json vip show
	fl --json backend show
}

# bad STATUS WORDS ARGUMENT...
bad() {
	local status=$1 words=$2 before

	shift 2
	before=$(running_state)
	refused "$status" "$words" -- fl "$@"
	equal "running state" "$before" "$(running_state)"
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd

bad 1 "1 to 65535" vip add 203.0.113.1:0/tcp
bad 1 "1 to 65535" vip add 203.0.113.1:65536/tcp
bad 1 "no port" vip add 203.0.113.1/tcp
bad 1 "tcp, udp" vip add 203.0.113.1:80/sctp
bad 1 "'$VIP4:80/tcp' exists already" vip add $VIP4:80/tcp
bad 1 "'203.0.113.99:80/tcp' does not exist" vip del 203.0.113.99:80/tcp
bad 1 "'nope' does not exist" vip add 203.0.113.1:80/tcp pool nope
bad 1 "997 and 1009" vip add 203.0.113.1:80/tcp table_size 1000
bad 64 "'vxlan'" vip add 203.0.113.1:80/tcp encap vxlan
bad 1 "'10.1.0.11' exists already" backend add web 10.1.0.11
bad 1 "'b1' exists already" backend add web 10.1.0.14 name b1
bad 1 "'10.1.0.300'" backend add web 10.1.0.300
bad 1 "multicast" backend add web 224.0.0.1
bad 1 "0 to 65535" backend add web 10.1.0.14 weight 65536
bad 1 "'nope' does not exist" backend add nope 10.1.0.14
bad 1 "'10.1.0.99' does not exist" backend del web 10.1.0.99
bad 64 "ADDRESS is missing" backend add web
bad 64 "something to change" backend set web b1
bad 64 "'wait'" backend add web 10.1.0.14 wait 3
bad 64 "'frob'" vip frob
bad 64 "'frob'" frob

# The same as JSON is JSON.
json=$(fl --json vip del 203.0.113.99:80/tcp 2>&1) && fail "deleted what is not there"
has "$json" '{"error":{"code":"not_found","message":"'

# Only root changes things; everybody may look.
user=(on fe setpriv "--reuid=65534" --clear-groups "$O/fairlead" --instance "$ID")
refused 77 "root" -- "${user[@]}" vip add 203.0.113.1:80/tcp
has "$("${user[@]}" show status)" "$ID"

stop fairleadd
refused 69 "'$ID'" "not running" -- fl show status
refused 69 "'$ID'" "not running" -- fl vip add 203.0.113.1:80/tcp
