#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Downloads from a backend that is removed meanwhile go on to their end; new
# connections avoid it.
. "$(dirname "$0")/lib.sh"

started() {
	grep -q X-Backend "$RUN/$1.head" 2> /dev/null
}

balanced 4 ipip $VIP4

# Eight downloads, stopped in their midst: 20 MiB fit into no socket buffer.
pids=()
for i in {1..8}; do
	nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 8M \
		-D "$RUN/d$i.head" -o "$RUN/d$i.body" "http://$VIP4/big" &
	pids+=($!)
done
for i in {1..8}; do
	wait_until 10 started "d$i" || fail "download $i did not start"
	kill -STOP "${pids[i - 1]}" || fail "download $i was over too soon"
done

# The backend that one of them comes from goes away.
gone=$(sed -n 's/^X-Backend: \(b[123]\).*/\1/p' "$RUN/d1.head")
fl backend del web "$gone"
[[ "$(fl show status)" =~ backends_draining\ +1 ]] || fail "no backend is draining"
spread=$(http_spread $VIP4 60) || fail "a request failed"
[[ $spread != *"$gone"* ]] || fail "$gone still gets new connections: $spread"

kill -CONT "${pids[@]}"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a download broke"
done
sum=$(sha256sum < "$RUN/big")
for i in {1..8}; do
	equal "checksum of download $i" "$sum" "$(sha256sum < "$RUN/d$i.body")"
done
