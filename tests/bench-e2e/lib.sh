# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The namespaces of the benches of this directory, and front ends in them. A bench
# sources it first: it starts again in namespaces of its own, and what it starts ends
# with it.
#
#   fle2e-make: NAME --- eth0 :fle2e-NAME: eth1 --- NAME :fle2e-arrive

export O=${O:-.output}
prefix=fle2e

if [ -z "${FAIRLEAD_BENCH_ISOLATED:-}" ]; then
	FAIRLEAD_BENCH_ISOLATED=1 exec unshare --mount --pid --net --fork \
		--kill-child --mount-proc "$0" "$@"
fi
mount -t tmpfs tmpfs /run
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
export ID=e2e
. scripts/lib/net.sh
mkdir -p "$RUN"

# veth NAMESPACE NAME NAMESPACE NAME MAC
veth() {
	ip -n "$1" link add "$2" mtu 1600 type veth \
		peer name "$4" mtu 1600 address "$5" netns "$3"
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
}

# What is behind eth1 is not there, but for its MAC address.
front() {
	local ns=$prefix-$1 backend

	ip netns add "$ns"
	veth "$prefix-make" "$1" "$ns" eth0 02:00:00:00:00:02
	veth "$ns" eth1 "$prefix-arrive" "$1" 02:00:00:00:00:0b
	ip -n "$ns" addr add 10.1.0.2/24 dev eth0
	ip -n "$ns" addr add 10.2.0.2/24 dev eth1
	for backend in 11 12 13; do
		ip -n "$ns" neigh add "10.2.0.$backend" dev eth1 \
			lladdr 02:00:00:00:00:0b nud permanent
	done
}

config() {
	cat <<-END
	interface: eth0
	attach: native
	${FLOWS:-flows: 2M}
	conntrack: $1
	hash_key: 000102030405060708090a0b0c0d0e0f
	pools:
	  web:
	    backends:
	      - {address: 10.2.0.11}
	      - {address: 10.2.0.12}
	      - {address: 10.2.0.13}
	vips:
	  - {address: "203.0.113.10:7777/udp", pool: web}
	END
}

answers() {
	nsenter --net="/run/netns/$prefix-$1" "$O/fairlead" --instance "$1" show status \
		> "$RUN/status" 2> /dev/null
}

balance() {
	config "$1" > "$RUN/$1.yaml"
	nsenter --net="/run/netns/$prefix-$1" "$O/fairleadd" --foreground \
		--config "$RUN/$1.yaml" --instance "$1" > "$RUN/$1.log" 2>&1 < /dev/null &
	wait_until 20 answers "$1" ||
		die "fairleadd does not answer: $(cat "$RUN/$1.log")"
}

ip netns add "$prefix-make"
ip netns add "$prefix-arrive"
