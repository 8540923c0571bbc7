#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever a server answers, a check of it ends, says why, and makes fairlead-check
# neither big nor slow: others are checked meanwhile.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

hostile body 8001
hostile headers 8002
hostile header 8003
hostile continues 8004
hostile drip 8005
hostile closes 8006
hostile resets 8007
hostile silent 8008
hostile reply 8009 $'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:8010/\r\n\r\n'
hostile reply 8010 $'HTTP/1.1 200 OK\r\n\r\nall well'
# 128 MiB of zeros in half a MiB, for those who unpack.
head -c 134217728 /dev/zero | gzip -1 > "$RUN/zeros.gz"
bomb() {
	printf 'HTTP/1.1 200 OK\r\n%s: gzip\r\n\r\n' "$1"
	cat "$RUN/zeros.gz"
}
bomb Content-Encoding > "$RUN/content.bomb"
bomb Transfer-Encoding > "$RUN/transfer.bomb"
hostile file 8011 "$RUN/content.bomb"
hostile file 8012 "$RUN/transfer.bomb"

# The answer's first 64 KiB count, so a body without end is whole.
passes '"HTTP status 200"' http 127.0.0.1 8001
fails "the body lacks 'y' in its first 64 KiB" http 127.0.0.1 8001 '"body":"y"'
passes '"HTTP status 200"' http 127.0.0.1 8001 '"body":"xxxx"'
fails '"more than 64 KiB of headers"' http 127.0.0.1 8002
fails '"more than 64 KiB of headers"' http 127.0.0.1 8003
fails '"more than 64 KiB of headers"' http 127.0.0.1 8004
TIMEOUT=500 fails '"no end of the answer within 500 ms"' http 127.0.0.1 8005
fails '"closed the connection without an answer"' http 127.0.0.1 8006
fails '"connection reset"' http 127.0.0.1 8007
TIMEOUT=500 fails '"TLS: no end of the handshake within 500 ms"' https 127.0.0.1 8008
TIMEOUT=500 fails '"connected, but no answer within 500 ms"' http 127.0.0.1 8008

# Not followed, so the other server is never asked.
fails '"HTTP status 302, 200-299 wanted"' http 127.0.0.1 8009

passes '"HTTP status 200"' http 127.0.0.1 8011
fails "the body lacks 'z' in its first 64 KiB" http 127.0.0.1 8011 '"body":"z"'
result http 127.0.0.1 8012 '"body":"z"' > /dev/null

# No name is ever looked up, whatever the check calls the server.
passes '"HTTP status 200"' http 127.0.0.1 8010 '"host":"no-such-host.example"'
http_proxy=http://127.0.0.1:1 passes '"HTTP status 200"' http 127.0.0.1 8010

# All of them at once, again and again, and a healthy one beside.
hostile_probes() {
	local port kind id=100

	for port in 8001 8002 8003 8004 8005 8006 8007 8008 8009 8011 8012; do
		for _ in 1 2 3; do
			for kind in http https; do
				id=$((id + 1))
				INTERVAL=500 TIMEOUT=700 probe $id $kind 127.0.0.1 $port '"body":"z"'
			done
		done
	done
	probe 1 http 127.0.0.1 8010
}

hostile_probes > "$RUN/probes"
start_checks "$RUN/probes"
# Ten runs of the healthy one, and two at least of each hostile one.
enough() {
	[ "$(grep -c '"id":1,"ok":true' "$RUN/many.log")" -ge 10 ] &&
		[ "$(grep -o '"id":1[0-9][0-9],' "$RUN/many.log" | sort | uniq -d | wc -l)" = 66 ]
}
wait_until 60 enough || fail "checks do not go on beside hostile servers"
if grep '"id":1,"ok":false' "$RUN/many.log"; then
	fail "a healthy server is found ill beside hostile ones"
fi

pid=$(pgrep -xo fairlead-check) || fail "fairlead-check has ended"
peak=$(awk '$1 == "VmHWM:" { print $2 }' "/proc/$pid/status")
echo "peak memory with 66 hostile probes: $peak KiB"
# A sanitizer keeps what is freed.
grep -q __asan_init "$O/fairlead-check" || [ "$peak" -lt $((48 * 1024)) ] || fail "hostile servers make it use $peak KiB"
