# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Starts and asks the programs on the hosts that scripts/topology lays out. The
# demo and the tests source it after they set ID. What it starts leaves its pid
# in $RUN/NAME.pid, by which `scripts/topology down` ends it.
#
# Hosts are named client, fe, b1, b2, b3.

: "${O:=.output}" "${SLOWER:=1}" "${ID:?}"
RUN=/run/fairlead-topology-$ID
HTTP_BIG_BYTES=$((20 * 1024 * 1024))

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# `ip netns exec` would mount another /sys and so hide bpffs; this does not.
on() {
	local host=$1

	shift
	nsenter --net="/run/netns/fl$ID-$host" "$@"
}

# fl ARGUMENT...: the command, speaking to this topology's daemon, by a socket that has
# a path and no network.
fl() {
	"$O/fairlead" --instance "$ID" "$@"
}

# wait_until SECONDS COMMAND...: until the command succeeds; fails at the deadline,
# which a slow machine may have later: SLOWER=N.
wait_until() {
	local deadline=$((SECONDS + $1 * SLOWER)) pauses=(0.05 0.05 0.1 0.1 0.15 0.2 0.25)

	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep "${pauses[0]}"
		[ ${#pauses[@]} = 1 ] || pauses=("${pauses[@]:1}")
	done
}

# start NAME HOST COMMAND...: in the background, output in $RUN/NAME.log.
start() {
	local name=$1 host=$2

	shift 2
	# Not through on(): $! would be a shell that waits for it.
	nsenter --net="/run/netns/fl$ID-$host" "$@" > "$RUN/$name.log" 2>&1 < /dev/null &
	echo $! > "$RUN/$name.pid"
	disown $!
}

running() {
	local pid

	pid=$(cat "$RUN/$1.pid" 2> /dev/null) && kill -0 "$pid" 2> /dev/null
}

not_running() { ! running "$1"; }

# stop NAME [SIGNAL]
stop() {
	local pid

	pid=$(cat "$RUN/$1.pid")
	kill "-${2:-TERM}" "$pid"
	wait_until 30 not_running "$1" || die "$1 (pid $pid) did not end"
	rm -f "$RUN/$1.pid"
}

# start_http BACKEND: nginx on port 80, which says at / whose it is, and has
# /big, the same 20 MiB of noise on all backends.
start_http() {
	local host=$1 dir=$RUN/$1-http

	mkdir -p "$dir/html"
	[ -s "$RUN/big" ] || head -c "$HTTP_BIG_BYTES" /dev/urandom > "$RUN/big"
	ln -f "$RUN/big" "$dir/html/big"
	http_config "$host" "$dir" > "$dir/nginx.conf"
	start "$host-http" "$host" nginx -p "$dir" -c "$dir/nginx.conf" -e "$dir/error.log"
	wait_until 10 on "$host" curl -sf -o /dev/null http://127.0.0.1/ ||
		die "nginx on $host does not answer: $(cat "$RUN/$host-http.log" "$dir/error.log")"
}

http_config() {
	cat <<-END
	daemon off;
	master_process off;
	pid $2/nginx.pid;
	error_log $2/error.log;
	events { worker_connections 4096; }
	http {
	    access_log off;
	    default_type text/plain;
	    client_body_temp_path $2/body;
	    proxy_temp_path $2/proxy;
	    fastcgi_temp_path $2/fastcgi;
	    uwsgi_temp_path $2/uwsgi;
	    scgi_temp_path $2/scgi;
	    server {
	        listen 80 backlog=1024;
	        listen [::]:80 backlog=1024;
	        add_header X-Backend $1 always;
	        location = / { return 200 "$1\n"; }
	        location / { root $2/html; }
	    }
	}
	END
}

# start_udp_echo BACKEND ADDRESS PORT: answers each datagram with "BACKEND: " in
# front. Bound to the VIP, as a UDP server has to be to answer from it.
start_udp_echo() {
	local host=$1 address=$2 port=$3 family=4 name

	[[ $address != *:* ]] || family=6
	name=$host-udp$family-$port
	[ $family = 4 ] || address="[$address]"
	# In a file, since socat would take colons and quotes for its own.
	printf '#!/bin/sh\nread -r line\necho "%s: $line"\n' "$host" > "$RUN/$name.sh"
	start "$name" "$host" socat \
		"UDP$family-RECVFROM:$port,bind=$address,reuseaddr,fork" \
		"SYSTEM:sh $RUN/$name.sh"
	wait_until 10 udp_bound "$host" "$port" ||
		die "socat on $host does not listen: $(cat "$RUN/$name.log")"
}

udp_bound() {
	[ -n "$(on "$1" ss -Hlun "sport = :$2")" ]
}

# ask_udp ADDRESS PORT TEXT: one datagram from the client, and the answer. The
# socket is connected, so an answer from another address is none.
ask_udp() {
	# shellcheck disable=SC2016
	on client timeout 3 bash -c \
		'exec 3<> "/dev/udp/$0/$1"; echo "$2" >&3; head -n 1 <&3' "$@"
}

# start_fairleadd: with the configuration in $RUN/fairlead.yaml.
start_fairleadd() {
	start fairleadd fe "$O/fairleadd" --foreground \
		--config "$RUN/fairlead.yaml" --instance "$ID"
	wait_until 20 fairleadd_settled ||
		die "fairleadd does not answer: $(cat "$RUN/fairleadd.log")"
}

# Over when it answers; also when it ended, then with failure.
fairleadd_settled() {
	running fairleadd || die "fairleadd ended: $(cat "$RUN/fairleadd.log")"
	fl show status > "$RUN/status" 2> /dev/null
}

# backend_setup BACKEND ARGUMENT...
backend_setup() {
	local host=$1

	shift
	on "$host" "$O/fairlead" --instance "$ID-$host" backend-setup "$@"
}
