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

# stripped ENCAP: by b2, packets of that tunnel.
stripped() {
	decap_counter b2 "stripped_$1"
}

# by_tunnel FAMILY ENCAP WHAT: answers and uploads, by that tunnel and no other.
by_tunnel() {
	local encap before after

	for encap in ipip gue gue1 gre; do
		stripped $encap
	done > "$RUN/before"
	probes_answered "$2 over IPv$1 $3" "$1"
	upload "$1" $VIP4
	upload "$1" $VIP6
	for encap in ipip gue gue1 gre; do
		read -r before
		after=$(stripped $encap)
		[ $((after > before)) = "$([ $encap != "$2" ]; echo $?)" ] ||
			fail "$2 over IPv$1 $3: b2 had $before of $encap, and has $after"
	done < "$RUN/before"
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
		by_tunnel $family $encap ""
	done
done

# The device is said to cut up and to sum: what it gets are packets of many segments.
on fe ethtool -K eth0 tx on tso on gso on > "$RUN/ethtool.out"
for family in 4 6; do
	for encap in ipip gue gue1 gre l2; do
		tunnel $family $encap
		before=$(probe_counter sent)
		by_tunnel $family $encap "with offloads"
		# Six answers take 30; the uploads, at 1100 bytes a segment, 182 and more.
		[ $(($(probe_counter sent) - before)) -lt 180 ] ||
			fail "$encap: the kernel has cut up itself"
	done
done
on fe ethtool -K eth0 tx off tso off gso off > "$RUN/ethtool.out"

# socat waits half a second for its shell's answer, which is short on a slow machine.
datagram_answered() {
	[ "$(echo hello | on fe "$O/tests/net/marked" "$mark" udp $VIP4 7777)" = "b3: hello" ]
}

tunnel 4 gue
start_udp_echo b3 $VIP4 7777
mark=$(probes add 10.1.0.13 $VIP4 7777 udp attach eth0)
wait_until 10 datagram_answered 2> "$RUN/marked.err" || fail "no datagram came back"

# (A tunnel that is new may still wait for its next hop.)
for reason in unknown destination malformed backend_invalid too_big no_room; do
	equal "$reason" 0 "$(probe_counter "$reason")"
done
