#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A socket of the front end with a probe's mark connects to the VIP and reaches the one
# backend that is asked, through every tunnel and family, while XDP balances on the same
# interface; small and large, and with the segments and checksums left to the device.
. "$(dirname "$0")/lib.sh"

# probes_answered WHAT OUTER-FAMILY: of both VIPs.
probes_answered() {
	local vip host marks=() args=()

	for vip in $VIP4 $VIP6; do
		for host in b1 b2 b3; do
			args+=(add "$(outer_of "$2" $host)" "$vip" 80 tcp)
		done
	done
	probes "${args[@]}" attach eth0 > "$RUN/marks"
	mapfile -t marks < "$RUN/marks"
	for host in 0 1 2; do
		equal "$1: answer through $VIP4" "b$((host + 1))" "$(probe_ask "${marks[$host]}" $VIP4)"
		equal "$1: answer through $VIP6" "b$((host + 1))" \
			"$(probe_ask "${marks[$((host + 3))]}" $VIP6)"
	done
}

# upload FAMILY VIP: a stream that the kernel hands over in pieces of many segments.
upload() {
	local mark

	mark=$(probes add "$(outer_of "$1" b2)" "$2" 81 tcp attach eth0)
	start b2-sink b2 socat -u "TCP$(family "$2")-LISTEN:81,bind=$(bracketed "$2"),reuseaddr" \
		"SYSTEM:sha256sum > $RUN/b2-sum"
	wait_until 10 tcp_listens b2 81 || fail "socat does not listen on b2"
	on fe "$O/tests/net/marked" "$mark" tcp "$2" 81 < "$RUN/part"
	wait_until 10 not_running b2-sink || fail "b2 waits for more"
	equal "checksum of the upload" "$(sha256sum < "$RUN/part")" "$(cat "$RUN/b2-sum")"
}

# tunnel FAMILY ENCAP: all backends behind that one.
tunnel() {
	write_config "$1" "$2" "$VIP4:80/tcp" "$VIP4:81/tcp" "$VIP4:7777/udp" "[$VIP6]:80/tcp" \
		"[$VIP6]:81/tcp"
	fl apply "$RUN/fairlead.yaml" > "$RUN/apply.out"
}

balanced 4 ipip $VIP4 $VIP6
# Where the probes would go in the clear: to a host that has the VIP not.
on fe ip route add default via 10.1.0.100
on fe ip -6 route add default via fd00:1::100
head -c 100000 "$RUN/big" > "$RUN/part"

# While clients are served by the same interface.
start_load $VIP4
probes_answered "under load" 4
stop_load

for family in 4 6; do
	for encap in ipip gue gue1 gre l2; do
		tunnel $family $encap
		probes_answered "$encap over IPv$family" $family
		upload $family $VIP4
		upload $family $VIP6
	done
done

# The device is said to cut up and to sum: what it gets are packets of many segments.
on fe ethtool -K eth0 tx on tso on gso on > "$RUN/ethtool.out"
for family in 4 6; do
	for encap in ipip gue gue1 gre l2; do
		tunnel $family $encap
		probes_answered "$encap over IPv$family with offloads" $family
		before=$(probe_counter sent)
		upload $family $VIP4
		upload $family $VIP6
		# At 1100 bytes a segment there are 182 and more.
		[ $(($(probe_counter sent) - before)) -lt 150 ] || fail "$encap: the kernel has cut up itself"
	done
done
on fe ethtool -K eth0 tx off tso off gso off > "$RUN/ethtool.out"

tunnel 4 gue
start_udp_echo b3 $VIP4 7777
mark=$(probes add 10.1.0.13 $VIP4 7777 udp attach eth0)
equal "datagram" "b3: hello" "$(echo hello | on fe "$O/tests/net/marked" "$mark" udp $VIP4 7777)"

# (A tunnel that is new may still wait for its next hop.)
for reason in unknown destination malformed backend_invalid too_big no_room; do
	equal "$reason" 0 "$(probe_counter "$reason")"
done
