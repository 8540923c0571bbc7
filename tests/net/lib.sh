# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the tests of this directory stand on; each sources it first. The test
# starts again in mount, network and process namespaces of its own, with its own
# /run and bpffs: copies of a test never meet, and when it ends, however it
# ends, everything that it started or mounted is gone.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
export O=${O:-.output}

skip() {
	echo "skipped: $*"
	exit 77
}

if [ -z "${FAIRLEAD_TEST_ISOLATED:-}" ]; then
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare --mount --pid --net --fork true 2> /dev/null ||
		skip "needs the right to make namespaces"
	FAIRLEAD_TEST_ISOLATED=1 exec unshare --mount --pid --net --fork \
		--kill-child --mount-proc "tests/net/${0##*/}"
fi

mount -t tmpfs tmpfs /run
mount -t bpf bpf /sys/fs/bpf 2> /dev/null || skip "the BPF file system cannot be mounted here"
ip link set lo up 2> /dev/null || skip "needs CAP_NET_ADMIN"

export ID=t$$
. scripts/lib/net.sh

# shellcheck disable=SC2034 # of the tests
VIP4=203.0.113.10
# shellcheck disable=SC2034
VIP6=2001:db8::10

# on_exit [STATUS]: what helps to understand a failure; the end of the test cleans up.
on_exit() {
	local status=${1:-$?} log

	[ "$status" != 0 ] && [ "$status" != 77 ] || return 0
	for log in "$RUN"/*.log; do
		[ -s "$log" ] || continue
		echo "--- ${log##*/}"
		tail -n 20 "$log"
	done
	if [ -e "$RUN/fairleadd.pid" ]; then
		echo "--- show status, show counters"
		fl show status || true
		fl show counters || true
	fi
	if [ -e "/sys/fs/bpf/fairlead/$ID/probe_counters" ]; then
		echo "--- probes"
		probes read || true
	fi
}
trap on_exit EXIT

fail() {
	echo "FAILED: $*"
	exit 1
}

# equal WHAT EXPECTED GOT
equal() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# has TEXT PART: the words must be there, so that the sentence stays clear.
has() {
	[[ $1 == *"$2"* ]] || fail "'$2' is not in: $1"
}

one_line() {
	[ "$(wc -l <<< "$1")" = 1 ] || fail "more than one line: $1"
}

# refused STATUS PART... -- COMMAND...: the command fails with that status and
# one line on stderr that has all the parts. A usage error has a second line,
# which says where help is.
refused() {
	local status=$1 parts=() got=0 text part

	shift
	while [ "$1" != -- ]; do
		parts+=("$1")
		shift
	done
	shift
	text=$("$@" 2>&1 > /dev/null) || got=$?
	[ "$got" = "$status" ] || fail "'$*' ended with $got, not $status: $text"
	one_line "$(grep -v '^Try: ' <<< "$text")"
	for part in "${parts[@]}"; do
		has "$text" "$part"
	done
}

sysctl_of() {
	on "$1" sysctl -n "$2"
}

# backends VIP...: make all three backends of these VIPs, with a web server.
# BACKEND_SETUP has further options of backend-setup.
backends() {
	local host

	for host in b1 b2 b3; do
		# shellcheck disable=SC2086
		backend_setup "$host" --interface eth0 ${BACKEND_SETUP:-} "$@" \
			> "$RUN/$host-setup.out"
		start_http "$host"
	done
}

# write_config FAMILY ENCAP VIP...: one pool of the three backends. POOL_KEYS has
# further keys of it, a line each.
write_config() {
	local family=$1 encap=$2 prefix=10.1.0. number vip

	shift 2
	[ "$family" = 4 ] || prefix=fd00:1::
	cat > "$RUN/fairlead.yaml" <<-END
	interface: eth0
	attach: native
	flows: 64K
	hash_key: 000102030405060708090a0b0c0d0e0f
	pools:
	  web:
	    encap: $encap
	END
	[ -z "${POOL_KEYS:-}" ] || sed 's/^/    /' <<< "$POOL_KEYS" >> "$RUN/fairlead.yaml"
	echo "    backends:" >> "$RUN/fairlead.yaml"
	for number in 11 12 13; do
		printf '      - {address: "%s%s", name: b%s}\n' "$prefix" "$number" \
			"${number#1}"
	done >> "$RUN/fairlead.yaml"
	echo "vips:" >> "$RUN/fairlead.yaml"
	for vip; do
		printf '  - {address: "%s", pool: web}\n' "$vip"
	done >> "$RUN/fairlead.yaml"
}

# An address as it stands in a URL or a VIP.
bracketed() {
	if [[ $1 == *:* ]]; then echo "[$1]"; else echo "$1"; fi
}

# http_get ADDRESS [CURL OPTION...]: what is at / .
http_get() {
	local host

	host=$(bracketed "$1")
	shift
	on client curl -sS -f --max-time 10 "$@" "http://$host/"
}

# http_spread ADDRESS COUNT: that many requests, each on a new connection; how
# many went to which backend, as "NUMBER NAME" lines.
http_spread() {
	local host

	host=$(bracketed "$1")
	on client curl --no-progress-meter -f --max-time 10 --no-keepalive --parallel \
		--parallel-max 8 -H 'Connection: close' \
		"http://$host/?n=[1-$2]" | sort | uniq -c
}

# All answered, and every backend had some.
check_http_spread() {
	local spread count

	spread=$(http_spread "$1" 60) || fail "a request through $1 failed"
	count=$(awk '{ sum += $1 } END { print sum + 0 }' <<< "$spread")
	equal "answers through $1" 60 "$count"
	equal "backends that answered" "b1 b2 b3" \
		"$(awk '{ print $2 }' <<< "$spread" | paste -sd' ')"
}

# /big through the VIP is what the backends have, byte for byte.
check_http_download() {
	local host

	host=$(bracketed "$1")
	equal "checksum of /big" "$(sha256sum < "$RUN/big")" \
		"$(on client curl -sS -f --max-time 30 "http://$host/big" | sha256sum)"
}

# A stream of full-size segments through the VIP arrives whole. Downloads do not
# pass the balancer, so this is what tells that encapsulated packets fit.
check_upload() {
	local address=$1 host target

	target=$(bracketed "$address")
	for host in b1 b2 b3; do
		start "$host-sink" "$host" socat -u \
			"TCP$(family "$address")-LISTEN:81,bind=$target,reuseaddr" \
			"SYSTEM:sha256sum > $RUN/$host-sum"
		wait_until 10 tcp_listens "$host" 81 || fail "socat does not listen on $host"
	done
	on client socat -u "OPEN:$RUN/big" "TCP:$target:81"
	wait_until 10 sum_written || fail "no backend has got the stream"
	equal "checksum of the upload" "$(sha256sum < "$RUN/big")" \
		"$(cat "$RUN"/b?-sum)"
}

sum_written() {
	[ -n "$(cat "$RUN"/b?-sum 2> /dev/null)" ]
}

# Datagrams to the address are answered from it, by more than one backend.
check_udp_spread() {
	local host i answer

	for host in b1 b2 b3; do
		start_udp_echo "$host" "$1" 7777
	done
	for i in {1..30}; do
		answer=$(ask_udp "$1" 7777 "hello $i") || fail "datagram $i was not answered"
		[[ $answer =~ ^b[123]:\ hello\ $i$ ]] ||
			fail "datagram $i was answered with '$answer'"
		echo "${answer%%:*}" >> "$RUN/answers"
	done
	[ "$(sort -u "$RUN/answers" | wc -l)" -gt 1 ] ||
		fail "one backend has had all 30 flows"
}

family() {
	if [[ $1 == *:* ]]; then echo 6; else echo 4; fi
}

tcp_listens() {
	[ -n "$(on "$1" ss -Hltn "sport = :$2")" ]
}

# decap_counter BACKEND NAME: from `backend-setup --show`.
decap_counter() {
	backend_setup "$1" --show | awk -v name="$2" '$1 == name { print $2 }'
}

# drop_counter REASON: packets.
drop_counter() {
	fl --json show counters |
		grep -o "\"reason\":\"$1\",\"packets\":[0-9]*" | grep -o '[0-9]*$'
}

# probes COMMAND...: of the front end, as tests/net/probes.c says.
probes() {
	on fe "$O/tests/net/probes" "/sys/fs/bpf/fairlead/$ID" "$@"
}

# probe_ask MARK VIP: the name of who answers a probe by HTTP.
probe_ask() {
	printf 'GET / HTTP/1.0\r\n\r\n' | on fe "$O/tests/net/marked" "$1" tcp "$2" 80 |
		tail -n 1
}

probe_counter() {
	probes read | awk -v name="$1" '$1 == name { print $2 }'
}

# outer_of FAMILY BACKEND: the address that its tunnel ends at.
outer_of() {
	if [ "$1" = 4 ]; then echo "10.1.0.1${2#b}"; else echo "fd00:1::1${2#b}"; fi
}

# start_load ADDRESS [NAME]: requests without pause from the client.
start_load() {
	local name=${2:-load}

	rm -f "$RUN/$name.progress" # of a load before this one
	start "$name" client "$O/tests/net/load" "$1" 80 8 "$RUN/$name.progress"
	load_goes_on "$name"
}

load_ok() {
	cat "$RUN/${1:-load}.progress" 2> /dev/null || echo 0
}

load_reached() {
	local ok

	running "$1" || fail "the load generator ended"
	ok=$(load_ok "$1")
	[ "${ok:-0}" -ge "$2" ]
}

# 200 more good answers from now on.
load_goes_on() {
	local name=${1:-load} ok

	ok=$(load_ok "$name")
	wait_until 30 load_reached "$name" $((${ok:-0} + 200)) ||
		fail "requests stopped being answered"
}

# stop_load [NAME]: no request failed, over the whole of its run.
stop_load() {
	local name=${1:-load}

	stop "$name"
	grep -q '"failed": 0,' "$RUN/$name.log" ||
		fail "requests failed: $(cat "$RUN/$name.log")"
}

# balanced FAMILY ENCAP VIP-ADDRESS...: everything, up and answering.
balanced() {
	local family=$1 encap=$2 vips=() address

	shift 2
	scripts/topology up "$ID"
	backends "$@"
	for address; do
		vips+=("$(bracketed "$address"):80/tcp" "$(bracketed "$address"):81/tcp"
			"$(bracketed "$address"):7777/udp")
	done
	write_config "$family" "$encap" "${vips[@]}"
	start_fairleadd
}
