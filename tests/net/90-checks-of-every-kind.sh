#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fairlead-check finds a healthy server healthy, by each kind of check and over both
# families of addresses.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

ok=$'HTTP/1.1 200 OK\r\nX-Weight: 75%\r\nX-State: Drain\r\nContent-Length: 27\r\n\r\n{"load": {"weight": 12.4}}\n'
hostile reply 8080 "$ok"
hostile banner 2525 "220 ready"
hostile udp 5353 "PONG 1"
printf '#!/bin/sh\necho "$FAIRLEAD_BACKEND $FAIRLEAD_ADDR $FAIRLEAD_PORT $1"\n' \
	> "$RUN/command"
chmod 755 "$RUN/command"

for address in 127.0.0.1 ::1; do
	passes '"connected"' tcp $address 2525
	passes '"answered"' tcp $address 2525 '"send":"EHLO","receive":"220 "'
	passes '"answered"' udp $address 5353
	passes '"answered"' udp $address 5353 '"send":"PING","receive":"PONG"'
	passes '"answered"' icmp $address 0
	MARK=7 passes '"answered"' icmp $address 0
	MARK=7 passes '"connected"' tcp $address 2525
	passes '"HTTP status 200"' http $address 8080
	MARK=7 passes '"HTTP status 200"' http $address 8080
	passes '"HTTP status 200"' http $address 8080 '"body":"weight"'
	passes '"weight":75' http $address 8080 '"weight_header":"x-weight"'
	passes '"agent":"drain"' http $address 8080 '"weight_header":"X-State"'
	passes '"weight":12' http $address 8080 '"weight_json":"load.weight"'
	CHECKER=--allow-exec passes "\"$address $address 99 x\"" exec $address 99 \
		"\"args\":[\"$RUN/command\",\"x\"]"
done

# A command that says nothing.
CHECKER=--allow-exec passes '"exit status 0"' exec 127.0.0.1 0 '"args":["/bin/true"]'

# What an agent says that makes no sense is told, and changes nothing.
hostile reply 8081 $'HTTP/1.1 200 OK\r\nX-Weight: 101\r\n\r\n{"load": 5}'
passes "weight or state '101' makes no sense; allowed: 0 to 100, up, drain, down" \
	http 127.0.0.1 8081 '"weight_header":"X-Weight"'
hostile reply 8083 $'HTTP/1.1 200 OK\r\n\r\n{"a": -1, "b": true, "c": [1], "d": null}'
passes "weight or state '-1' makes no sense" http 127.0.0.1 8083 '"weight_json":"a"'
passes "weight or state 'true' makes no sense" http 127.0.0.1 8083 '"weight_json":"b"'
passes "weight or state '[1]' makes no sense" http 127.0.0.1 8083 '"weight_json":"c"'
passes "no weight or state in the answer" http 127.0.0.1 8083 '"weight_json":"d"'
passes "no weight or state in the answer" http 127.0.0.1 8081 '"weight_json":"load.weight"'
passes "no weight or state in the answer" http 127.0.0.1 8081 '"weight_header":"X-Other"'

# What is asked is what was meant to be asked, and HEAD is known to have no body.
socat -u TCP-LISTEN:8082,reuseaddr,fork "OPEN:$RUN/request,creat" &
wait_until 10 listens 8082
TIMEOUT=500 fails '"connected, but no answer within 500 ms"' http 127.0.0.1 8082 \
	'"path":"/health?a=b","host":"www.example.com:81","method":"HEAD"'
has "$(cat "$RUN/request")" $'HEAD /health?a=b HTTP/1.1\r\nHost: www.example.com:81\r\n'
passes '"HTTP status 200"' http 127.0.0.1 8080 '"method":"HEAD"'

# The mark is on the packets: with it, they are not to be routed here.
for family in -4 -6; do
	ip $family rule add pref 100 lookup local
	ip $family rule add pref 50 fwmark 7 unreachable
	ip $family rule del pref 0
done
for address in 127.0.0.1 ::1; do
	for probe in "tcp $address 2525" "udp $address 5353" "icmp $address 0" "http $address 8080"; do
		# shellcheck disable=SC2086
		MARK=7 fails "network is unreachable" $probe
		# shellcheck disable=SC2086
		MARK=8 passes '"ok":true' $probe
	done
done
