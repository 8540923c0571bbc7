#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Anybody may ask over the read-only socket; it changes nothing, keeps the hash key
# to itself, and its clients cannot lock out those of the other socket.
. "$(dirname "$0")/lib.sh"

dir=/run/fairlead/$ID
key=000102030405060708090a0b0c0d0e0f

# ask LINE: as nobody; the answer without the greeting.
ask() {
	on fe setpriv --reuid=65534 --regid=65534 --clear-groups \
		socat -t 5 - "UNIX-CONNECT:$dir/fairlead-ro.sock" <<< "$1" | tail -n +2
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd
equal "mode" 600 "$(stat -c %a "$dir/fairlead.sock")"
equal "mode" 666 "$(stat -c %a "$dir/fairlead-ro.sock")"

before=$(fl --json backend show)
for verb in vip.add vip.set vip.del backend.add backend.set backend.del apply save flow.flush; do
	answer=$(ask "{\"id\": 7, \"verb\": \"$verb\", \"args\": {\"vip\": \"$VIP4:80/tcp\"}}")
	has "$answer" '"id":7,"ok":false'
	has "$answer" '"code":"denied"'
done
equal "backends" "$before" "$(fl --json backend show)"

for verb in vip.show backend.show show.status show.counters show.flows; do
	answer=$(ask "{\"id\": 7, \"verb\": \"$verb\"}")
	has "$answer" '"ok":true'
	[[ $answer != *$key* ]] || fail "$verb tells the hash key"
done
fl save "$RUN/saved.yaml" > "$RUN/save.out"
has "$(cat "$RUN/saved.yaml")" "$key"

# 200 that say nothing, and one that never ends its line.
for i in {1..200}; do
	start "idle$i" fe socat -u "UNIX-CONNECT:$dir/fairlead-ro.sock" OPEN:/dev/null
done
fl vip add 203.0.113.77:80/tcp
fl vip del 203.0.113.77:80/tcp
for i in {1..200}; do
	kill "$(cat "$RUN/idle$i.pid")" 2> /dev/null || true
	rm "$RUN/idle$i.pid"
done
answers() { has "$(ask '{"verb": "show.status"}')" '"ok":true'; }
wait_until 10 answers || fail "the read-only socket does not recover"
# One byte too many, so that the daemon reads all of it: socat, when it cannot
# write the rest of more, would not read the answer.
long=$(head -c 65537 /dev/zero | tr '\0' x | on fe socat -t 5 - \
	"UNIX-CONNECT:$dir/fairlead-ro.sock" 2> /dev/null || true)
has "$long" 'request is longer than 65536 bytes'
