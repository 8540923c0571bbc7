#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A packet of a QUIC connection reaches the server that its connection id names,
# from whatever address and port it comes; also after the daemon was killed, and
# when the server was taken out of its pool.
. "$(dirname "$0")/lib.sh"

# Text that is a short header, a connection id of config id 2 ('C' is 0x43), a
# server id of two letters, and a nonce.
packet_for() {
	echo "aC${1}nonce"
}

# ask ADDRESS SERVER-ID: a datagram may be lost on a busy machine, so up to five.
ask() {
	local i answer

	for i in {1..5}; do
		answer=$(ask_udp "$1" 7777 "$(packet_for "$2")") || true
		[ -z "$answer" ] || break
	done
	echo "$answer"
}

# answers NAME ADDRESS SERVER-ID: four packets, each from a port of its own.
answers() {
	local i

	for i in {1..4}; do
		equal "answer $i for $3" "$1: $(packet_for "$3")" "$(ask "$2" "$3")"
	done
}

# The client goes to another address.
client_moves() {
	on client ip addr add 10.1.0.101/24 dev eth0
	on client ip addr add fd00:1::101/64 dev eth0 nodad
	on client ip route replace 203.0.113.0/24 via 10.1.0.2 src 10.1.0.101
	on client ip route replace 2001:db8::/32 via fd00:1::2 src fd00:1::101
}

quic_unknown() {
	fl --json show counters | grep -o '"quic_unknown":[0-9]*' | grep -o '[0-9]*$' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

quic_maps() {
	local map

	for map in quic_servers vips4 vips6; do
		bpftool map dump pinned "/sys/fs/bpf/fairlead/$ID/$map" | sort
	done
}

map_writes() {
	on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead-ro.sock" \
		<<< '{"verb": "show.status"}' | grep -o '"map_writes":[0-9]*'
}

all_by_server_id() {
	local n

	for n in 1 2 3; do
		answers "b$n" $VIP4 "s$n"
		answers "b$n" $VIP6 "s$n"
	done
}

balanced 4 ipip $VIP4 $VIP6
for host in b1 b2 b3; do
	start_udp_echo $host $VIP4 7777
	start_udp_echo $host $VIP6 7777
done

for n in 1 2 3; do
	fl backend set web "b$n" server_id "733$n"
done
fl vip set $VIP4:7777/udp quic 2:2
fl vip set "[$VIP6]:7777/udp" quic 2:2

all_by_server_id
client_moves
all_by_server_id
equal "unknown server ids" 0 "$(quic_unknown)"
has "$(ask $VIP4 xx)" "$(packet_for xx)"
[ "$(quic_unknown)" -gt 0 ] || fail "an unknown server id was not counted"

fl save
has "$(< "$RUN/fairlead.yaml")" 'config_id: 2'
has "$(< "$RUN/fairlead.yaml")" 'server_id: "7331"'
maps=$(quic_maps)
stop fairleadd KILL
answers b2 $VIP4 s2
start_fairleadd
equal "maps" "$maps" "$(quic_maps)"
equal "map writes" '"map_writes":0' "$(map_writes)"
all_by_server_id

# Another port each time, so it is the server id that leads there.
fl backend set web b2 state drain
answers b2 $VIP4 s2
fl backend del web b3
answers b3 $VIP4 s3
answers b3 $VIP6 s3
fl backend set web b2 state down
has "$(ask $VIP4 s2)" "b1: "

fl vip set $VIP4:7777/udp quic none
fl vip set "[$VIP6]:7777/udp" quic none
equal "what is left of the server ids" "[]" \
	"$(bpftool -j map dump pinned "/sys/fs/bpf/fairlead/$ID/quic_servers")"

refused 1 "'$VIP4:80/tcp'" "quic is for packets of UDP" -- fl vip set $VIP4:80/tcp quic 2:2
refused 1 "has 2 bytes" "server_id_length is 4" -- fl vip set $VIP4:7777/udp quic 2:4
refused 1 "each server_id once" -- fl backend set web b1 server_id 7332
