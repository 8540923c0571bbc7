#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every key of an answer over the control socket stands in docs/architecture.md,
# under its object, and every key that stands there is in the answer.
. "$(dirname "$0")/lib.sh"

keys() {
	grep -o '"[a-z0-9_]*":' | sort -u
}

# documented OBJECT: keys from the block that begins with its name; within counters
# some records are written as their names only.
documented() {
	sed -n "/^Objects in results/,/^A draining/p" docs/architecture.md |
		awk -v object="$1" '/^[a-z]/ { on = $1 == object } on' |
		sed 's/\([{,] *"[a-z_]*"\)\([,}]\)/\1:\2/g; s/\([{,] *"[a-z_]*"\)\([,}]\)/\1:\2/g' | keys
}

# answered VERB [ARGS]: keys of the result.
answered() {
	on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead-ro.sock" \
		<<< "{\"verb\": \"$1\", \"args\": ${2:-{\}}}" | tail -n 1 | sed 's/.*"result"://' | keys
}

scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
http_get $VIP4 > /dev/null || fail "no answer" # a flow to tell of
equal "keys of show.status" "$(documented status)" "$(answered show.status)"
equal "keys of show.counters" "$(documented counters)" "$(answered show.counters)"
equal "keys of show.flows" "$(documented flows)" \
	"$(answered show.flows "{\"limit\": 1}")"
equal "keys of vip.show" "$(documented vip)" "$(answered vip.show | grep -v '"vips":')"
equal "keys of backend.show" "$(documented backend)" \
	"$(answered backend.show | grep -v '"backends":')"
