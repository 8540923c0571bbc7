#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a client says of a backend's datagram, that its port is closed, reaches
# the backend that has sent it, and no other.
. "$(dirname "$0")/lib.sh"

balanced 4 ipip $VIP4 $VIP6
# A host sends another only six errors at once and then one a second: a quick
# machine asks for more.
on client sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv6.icmp.ratelimit=0

# unreachables FAMILY: destination unreachable messages that b1, b2 and b3 have got.
unreachables() {
	local host name=Icmp6InDestUnreachs

	[ "$1" = 6 ] || name=IcmpInDestUnreachs
	for host in b1 b2 b3; do
		on $host nstat -asz $name | awk -v name=$name '$1 == name { print $2 }'
	done | paste -sd' '
}

# one_more_for COUNTS OWNER
one_more_for() {
	local counts number=${2#b}

	read -r -a counts <<< "$1"
	counts[number - 1]=$((counts[number - 1] + 1))
	echo "${counts[*]}"
}

arrived() {
	[ "$(unreachables "$1")" = "$2" ]
}

# The other side of socat: when it has the answer it ends, and socat with it.
cat > "$RUN/asker" <<-'END'
	#!/bin/bash
	echo hello
	read -r -t 10 answer
	echo "$answer" > "$1"
END
chmod +x "$RUN/asker"

# ask FAMILY VIP CLIENT PORT: the answer to one datagram from that port, which is
# closed again; nothing when there is none.
ask() {
	rm -f "$RUN/answer"
	on client socat -t 0.01 "UDP$1:$2:7777,bind=$3:$4" "EXEC:$RUN/asker $RUN/answer" &&
		cat "$RUN/answer"
}

# check FAMILY VIP CLIENT: 8 flows each.
check() {
	local family=$1 vip client before expected answer owner port

	vip=$(bracketed "$2") client=$(bracketed "$3")
	for host in b1 b2 b3; do
		start_udp_echo $host "$2" 7777
	done
	for port in {20001..20008}; do
		answer=$(ask "$family" "$vip" "$client" "$port") || true
		owner=${answer%%:*}
		[[ $owner =~ ^b[123]$ ]] || fail "flow $port was answered with '$answer'"
		echo "$owner" >> "$RUN/owners"
		before=$(unreachables "$family")
		# The client has closed its port. Now the server speaks again.
		echo late | on "$owner" socat -u - \
			"UDP$family-SENDTO:$client:$port,bind=$vip:7777,reuseaddr"
		expected=$(one_more_for "$before" "$owner")
		wait_until 10 arrived "$family" "$expected" ||
			fail "after the error for $owner: '$before' became '$(unreachables "$family")'"
	done
}

check 4 $VIP4 10.1.0.100
check 6 $VIP6 fd00:1::100
[ "$(sort -u "$RUN/owners" | wc -l)" -gt 1 ] || fail "one backend has had all flows"
equal "icmp_unhandled" 0 "$(drop_counter icmp_unhandled)"
