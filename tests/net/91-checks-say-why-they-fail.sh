#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each way in which a check can fail has a reason that tells it from the others.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

hostile banner 2525 "220 ready"
hostile closes 2526
hostile silent 2527
hostile resets 2528
hostile udp 5353 "PONG"
hostile udp-other 5354 "PONG"
hostile reply 8080 $'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull'
hostile reply 8081 $'HTTP/1.1 301 Moved\r\nLocation: http://127.0.0.1:8083/\r\nContent-Length: 0\r\n\r\n'
hostile reply 8082 $'HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nshort'
hostile reply 8083 $'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall well\n'
hostile reply 8084 $'220 ready\r\n'

# Addresses that are not there: one that nobody has on a link, one without a route.
ip link add dead type veth peer name end
ip link set dead up
ip link set end up
ip addr add 192.0.2.1/24 dev dead
ip -6 addr add 2001:db8:dead::1/64 dev dead nodad
ip route add unreachable 198.51.100.0/24

# What is dropped without a word.
ip link add hole type veth peer name bottom
ip link set hole up
ip link set bottom up
ip addr add 203.0.113.1/24 dev hole
ip neighbour add 203.0.113.9 lladdr 02:00:00:00:00:09 dev hole nud permanent

for address in 127.0.0.1 ::1; do
	fails '"connection refused"' tcp $address 1
	fails '"connection refused"' http $address 1
	fails '"connection refused"' https $address 1
	fails '"connection refused: nothing listens on the UDP port"' udp $address 1
	fails "\"the answer does not begin with 'HELO'\"" tcp $address 2525 '"receive":"HELO"'
	fails "\"the answer does not begin with '220 ready or'\"" \
		udp $address 5353 '"receive":"220 ready or"'
	TIMEOUT=300 fails '"no answer within 300 ms"' udp $address 5354
	fails '"HTTP status 503, 200-299 wanted"' http $address 8080
	fails '"HTTP status 301, 200-299 wanted"' http $address 8081
done

fails '"closed the connection without the answer wanted"' tcp 127.0.0.1 2526 '"receive":"220"'
fails '"connection reset"' tcp 127.0.0.1 2528 '"receive":"220"'
TIMEOUT=300 fails '"no end of the answer within 300 ms"' tcp 127.0.0.1 2525 \
	'"receive":"220 ready and more"'
TIMEOUT=300 fails '"connected, but no answer within 300 ms"' tcp 127.0.0.1 2527 \
	'"send":"PING","receive":"PONG"'
TIMEOUT=300 fails '"no answer within 300 ms"' tcp 203.0.113.9 80
TIMEOUT=300 fails '"no answer within 300 ms"' http 203.0.113.9 80
TIMEOUT=300 fails '"no answer within 300 ms"' icmp 203.0.113.9 0
TIMEOUT=300 fails '"no answer within 300 ms"' udp 203.0.113.9 53
fails '"no route to host"' tcp 198.51.100.1 80
fails '"no route to host"' http 198.51.100.1 80
fails '"no route to host"' udp 198.51.100.1 80
fails '"cannot send: no route to host"' icmp 198.51.100.1 0
fails '"the network says that the address is unreachable"' icmp 192.0.2.9 0
fails '"the network says that the address is unreachable"' icmp 2001:db8:dead::9 0
fails '"cannot send: network is unreachable"' icmp 9.9.9.9 0

fails '"HTTP status 503, 200 wanted"' http 127.0.0.1 8080 '"status_min":200,"status_max":200'
passes '"HTTP status 503"' http 127.0.0.1 8080 '"status_min":500,"status_max":599'
passes '"HTTP status 301"' http 127.0.0.1 8081 '"status_min":300,"status_max":399'
fails "\"HTTP status 200, but the body lacks 'all ill'\"" http 127.0.0.1 8083 '"body":"all ill"'
fails '"closed the connection in the middle of the answer"' http 127.0.0.1 8082
fails '"closed the connection without an answer"' http 127.0.0.1 2526
fails '"the answer is not HTTP"' http 127.0.0.1 8084
TIMEOUT=300 fails '"connected, but no answer within 300 ms"' http 127.0.0.1 2527
TIMEOUT=300 fails '"TLS: no end of the handshake within 300 ms"' https 127.0.0.1 2527
fails '"TLS: the connection was closed during the handshake"' https 127.0.0.1 2526
fails '"TLS: wrong version number"' https 127.0.0.1 2525

# The agent of a server that fails is not believed.
got=$(result http 127.0.0.1 8080 '"weight_header":"Content-Length"')
[[ $got != *weight* ]] || fail "the weight of a failed check is told: $got"

fails '"exec checks are not allowed by the configuration"' exec 127.0.0.1 0 '"args":["/bin/true"]'
CHECKER=--allow-exec
fails '"exit status 1"' exec 127.0.0.1 0 '"args":["/bin/false"]'
fails '"exit status 3: not well?"' exec 127.0.0.1 0 \
	'"args":["/bin/sh","-c","printf \"\\n\\nnot well\\\\001\\nmore\\n\" >&2; exit 3"]'
fails '"exit status 126: cannot run it: No such file or directory"' exec 127.0.0.1 0 \
	'"args":["/nowhere/x"]'
fails '"exit status 126: cannot run it: Permission denied"' exec 127.0.0.1 0 \
	'"args":["/etc/passwd"]'
fails '"killed by signal 11"' exec 127.0.0.1 0 '"args":["/bin/sh","-c","kill -SEGV $$"]'
TIMEOUT=300 fails '"no end of the command within 300 ms"' exec 127.0.0.1 0 \
	'"args":["/bin/sleep","1000"]'
