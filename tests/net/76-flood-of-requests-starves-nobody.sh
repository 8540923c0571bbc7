#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Clients that send thousands of requests at once, and read no answer, keep neither
# other clients nor the network's events waiting; who hangs up only its sending
# side gets every answer, and who sends too long a line hears so.
. "$(dirname "$0")/lib.sh"

dir=/run/fairlead/$ID

lladdr_is_new() { [[ $(fl -o backend show) == *02:00:00:00:00:ee* ]]; }

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd

# All that a client may have under way, many times what a loop may do at once.
for _ in {1..2500}; do
	echo '{"verb": "backend.show"}'
done > "$RUN/requests"
for i in {1..40}; do
	start "flood$i" fe setpriv --reuid=65534 --clear-groups socat \
		"UNIX-CONNECT:$dir/fairlead-ro.sock" \
		"SYSTEM:cat '$RUN/requests'; exec sleep 1000"
done
on fe ip neigh replace 10.1.0.11 lladdr 02:00:00:00:00:ee dev eth0
wait_until 30 lladdr_is_new || fail "a new MAC is not heard of in the flood"
fl vip add 203.0.113.77:80/tcp

# socat hangs up its side when all is sent.
answers=$(on fe socat -t 60 - "UNIX-CONNECT:$dir/fairlead.sock" \
	< <(head -n 300 "$RUN/requests") |
	grep -c '"ok":true')
equal "answers" 300 "$answers"

for _ in {1..5}; do
	long=$(head -c 1000000 /dev/zero | tr '\0' x | on fe socat -t 5 - \
		"UNIX-CONNECT:$dir/fairlead-ro.sock" 2>&1)
	has "$long" 'request is longer than 65536 bytes'
done
