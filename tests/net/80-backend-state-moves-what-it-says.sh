#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# drain: no new connections, and those that it has finish. down: what it has is
# sent to others. up: the table is what it was. No request fails meanwhile.
. "$(dirname "$0")/lib.sh"

digest() {
	fl --json vip show "$VIP4:80/tcp" | grep -o '"digest":"[0-9a-f]*"'
}

started() {
	grep -q X-Backend "$RUN/$1.head" 2> /dev/null
}

packets_of() {
	fl --json backend show web | grep -o "\"name\":\"$1\"[^}]*\"packets\":[0-9]*" |
		grep -o '[0-9]*$'
}

balanced 4 ipip $VIP4
before=$(digest)
start_load $VIP4

nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 8M \
	-D "$RUN/d.head" -o "$RUN/d.body" "http://$VIP4/big" &
download=$!
wait_until 10 started d || fail "the download did not start"
kill -STOP $download || fail "the download was over too soon"
from=$(sed -n 's/^X-Backend: \(b[123]\).*/\1/p' "$RUN/d.head")

fl backend set web "$from" state drain
spread=$(http_spread $VIP4 60) || fail "a request failed while $from drained"
[[ $spread != *"$from"* ]] || fail "$from still gets new connections: $spread"
load_goes_on
kill -CONT $download
wait $download || fail "the download broke"
equal "checksum of the download" "$(sha256sum < "$RUN/big")" "$(sha256sum < "$RUN/d.body")"

fl backend set web "$from" state up
equal "table" "$before" "$(digest)"
load_goes_on
stop_load

# What a backend that is down has, goes elsewhere: its counter stands still.
fl backend set web b1 state down
sent=$(packets_of b1)
check() {
	spread=$(http_spread $VIP4 60) || fail "a request failed while b1 was down"
	[[ $spread != *b1* ]] || fail "b1 answered: $spread"
}
check
equal "packets to b1 while it is down" "$sent" "$(packets_of b1)"

# All taken out by the operator: nobody is left, and failing open is not asked for.
fl backend set web b2 state down
fl backend set web b3 state drain
on client curl -s -o /dev/null --connect-timeout 1 "http://$VIP4/" &&
	fail "somebody answered though all are taken out"
[ "$(drop_counter no_backend)" -gt 0 ] || fail "the drop was not counted"

for host in b1 b2 b3; do
	fl backend set web $host state up
done
equal "table" "$before" "$(digest)"
check_http_spread $VIP4
