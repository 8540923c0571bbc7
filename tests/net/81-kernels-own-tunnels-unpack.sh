#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Backends that unpack with the kernel's own tunnels, and without our program:
# IPIP, both variants of GUE, GRE, over IPv4 and over IPv6 (whose outer UDP
# checksum is zero), with every inner family that the kernel's tunnel takes.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"

# device NAME ARGUMENT...: a tunnel on each backend, to its own address.
device() {
	local host name=$1

	shift
	for host in b1 b2 b3; do
		on "$host" ip link add "$name" type "$@" local "$(outer_address "$host" "$name")" \
			2> "$RUN/device.log" ||
			skip "the kernel cannot make a tunnel '$*': $(cat "$RUN/device.log")"
		on "$host" ip link set "$name" up
		# Answers leave by eth0, so that is where strict filtering expects clients.
		on "$host" sysctl -qw "net.ipv4.conf.$name.rp_filter=0"
	done
}

# The first letters of a name say over what: o4, o6.
outer_address() {
	case $2 in
	o4*) echo "10.1.0.1${1#b}" ;;
	o6*) echo "fd00:1::1${1#b}" ;;
	esac
}

# GUE of either variant is taken off here, and what was inside goes on to the
# tunnel of that protocol.
gue_port() {
	local host

	# Nothing loads it by itself in a namespace.
	modprobe -qa fou fou6 || true
	for host in b1 b2 b3; do
		if ! on "$host" ip fou add port 6080 gue 2> "$RUN/device.log" ||
			! on "$host" ip -6 fou add port 6080 gue 2> "$RUN/device.log"; then
			skip "the kernel has no GUE: $(cat "$RUN/device.log")"
		fi
	done
}

device o4ipip ipip
device o4sit sit mode ip6ip
device o4gre gre
device o6any ip6tnl mode any
device o6gre ip6gre
gue_port

export BACKEND_SETUP=--no-decap
backends $VIP4 $VIP6
write_config 4 ipip "$VIP4:80/tcp" "[$VIP6]:80/tcp"
start_fairleadd

# received DEVICE: packets, over all backends.
received() {
	local host

	for host in b1 b2 b3; do
		on "$host" cat "/proc/net/dev" | awk -v name="$1:" '$1 == name { print $3 }'
	done | awk '{ sum += $1 } END { print sum + 0 }'
}

# answered FAMILY ENCAP VIP DEVICE: by way of that tunnel.
answered() {
	local before

	write_config "$1" "$2" "$VIP4:80/tcp" "[$VIP6]:80/tcp"
	fl apply "$RUN/fairlead.yaml" > "$RUN/apply.out"
	before=$(received "$4")
	check_http_spread "$3"
	[ "$(received "$4")" -gt "$before" ] || fail "$2 did not come through $4"
}

for encap in ipip gue gue1; do
	answered 4 $encap $VIP4 o4ipip
	answered 4 $encap $VIP6 o4sit
	answered 6 $encap $VIP4 o6any
	answered 6 $encap $VIP6 o6any
done
for address in $VIP4 $VIP6; do
	answered 4 gre $address o4gre
	answered 6 gre $address o6gre
done
for host in b1 b2 b3; do
	equal "decap program on $host" none "$(decap_counter $host decap)"
done
