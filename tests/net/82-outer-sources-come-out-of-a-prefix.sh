#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# With prefixes as tunnel_source each connection's packets come to the backend
# from an address of its own in the prefix, over IPv4 and over IPv6, whichever
# family is inside; those of one connection all from the same; and HTTP works.
. "$(dirname "$0")/lib.sh"

SOURCE4=10.250.7.0/24
SOURCE6=fd00:250:7::/64

# tunnelled PROTOCOL DESTINATION-PREFIX: the outer sources of the packets so far, a
# line for each packet, oldest first. Protocol 4 has IPv4 inside, 41 IPv6.
tunnelled() {
	awk -v protocol="$1" -v to="$2" \
		'$2 == protocol && index($4, to) == 1 { print $3 }' "$RUN/outers.log"
}

# seen COUNT PROTOCOL DESTINATION-PREFIX: so many packets at least.
seen() {
	[ "$(tunnelled "$2" "$3" | wc -l)" -ge "$1" ]
}

# last_have_one_source COUNT PROTOCOL DESTINATION-PREFIX
last_have_one_source() {
	local sources

	sources=$(tunnelled "$2" "$3" | tail -n "$1" | uniq -c)
	[ "$(awk '{ print $1 }' <<< "$sources")" = "$1" ]
}

# check FAMILY-OUTSIDE VIP PROTOCOL DESTINATION-PREFIX SOURCE-PREFIX
check() {
	local family=$1 vip=$2 packet=("$3" "$4") within=$5 before distinct strange answers

	before=$(tunnelled "${packet[@]}" | wc -l)
	check_http_spread "$vip"
	# Of 60 connections each has a SYN, an ACK, a GET and a FIN.
	wait_until 10 seen $((before + 240)) "${packet[@]}" ||
		fail "too few packets to $vip in a tunnel over IPv$family"
	strange=$(tunnelled "${packet[@]}" | grep -vm 1 "^$within" || true)
	equal "sources outside of $within" "" "$strange"
	distinct=$(tunnelled "${packet[@]}" | tail -n +$((before + 1)) | sort -u | wc -l)
	[ "$distinct" -ge 30 ] ||
		fail "60 connections to $vip over IPv$family had $distinct sources"

	# One connection of 50 requests has little more packets than these. Late ones of
	# the connections before may come first.
	answers=$(on client curl -sS -f --max-time 10 "http://$(bracketed "$vip")/?n=[1-50]" | uniq -c)
	[[ $answers =~ ^\ *50\ b[123]$ ]] || fail "one connection was answered with: $answers"
	wait_until 10 last_have_one_source 50 "${packet[@]}" ||
		fail "sources of one connection:" "$(tunnelled "${packet[@]}" | tail -n 50 | sort | uniq -c)"
}

scripts/topology up "$ID"
backends $VIP4 $VIP6
start outers sw "$O/tests/net/outers" b1 b2 b3
wait_until 10 grep -q listening "$RUN/outers.log" || fail "nothing listens"
for family in 4 6; do
	write_config $family ipip "$VIP4:80/tcp" "[$VIP6]:80/tcp"
	echo "tunnel_source: {ipv4: $SOURCE4, ipv6: '$SOURCE6'}" >> "$RUN/fairlead.yaml"
	if [ $family = 4 ]; then
		start_fairleadd
		check 4 $VIP4 4 10.1.0. 10.250.7.
		check 4 $VIP6 41 10.1.0. 10.250.7.
	else
		fl apply "$RUN/fairlead.yaml" > "$RUN/apply.out"
		check 6 $VIP4 4 fd00:1:: fd00:250:7:
		check 6 $VIP6 41 fd00:1:: fd00:250:7:
	fi
done
