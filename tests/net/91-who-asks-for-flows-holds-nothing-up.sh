#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Many clients of the read-only socket that ask for the flows at once wait for
# each other; a change, and who asks through the full socket, does not.
. "$(dirname "$0")/lib.sh"

n=60

answers() {
	cat "$RUN"/asks*.log | grep -c '"flows":' || true
}

are_answered() {
	[ "$(answers)" -ge "$1" ]
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
sed -i 's/^flows:.*/flows_per_cpu: 512K/' "$RUN/fairlead.yaml"
start_fairleadd

for ((i = 0; i < n; i++)); do
	# shellcheck disable=SC2016
	start "asks$i" fe setpriv --reuid=65534 --clear-groups bash -c '
		{
			until [ -e "$0/go" ]; do sleep 0.1; done
			echo "{\"verb\": \"show.flows\"}"
			exec sleep 1000
		} | exec socat - "UNIX-CONNECT:$1"' "$RUN" "/run/fairlead/$ID/fairlead-ro.sock"
done
greeted() { [ "$(cat "$RUN"/asks*.log | grep -c '"instance":')" = $n ]; }
wait_until 30 greeted || fail "not all are connected"
touch "$RUN/go"
wait_until 30 are_answered 1 || fail "nobody is answered"
fl backend set web 10.1.0.12 weight 2
fl show flows > "$RUN/flows.out"
first=$(answers)
[ "$first" -lt $((n * 3 / 4)) ] || fail "$first of $n went first"
wait_until 60 are_answered $n || fail "only $(answers) of $n are answered"
