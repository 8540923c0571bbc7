#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Downloads from a backend that is removed meanwhile go on to their end; new
# connections avoid it.
. "$(dirname "$0")/lib.sh"

# A slow download; which backend it came from is in its headers.
download() {
	on client curl -sS -f --limit-rate 4M -D "$RUN/$1.head" -o "$RUN/$1.body" "http://$VIP4/big"
}

started() {
	grep -q X-Backend "$RUN/$1.head" 2> /dev/null
}

balanced 4 ipip $VIP4
pids=()
for i in {1..8}; do
	download "d$i" &
	pids+=($!)
done
for i in {1..8}; do
	wait_until 10 started "d$i" || fail "download $i did not start"
done

# The backend that has one of them goes away.
gone=$(sed -n 's/^X-Backend: \(b[123]\).*/\1/p' "$RUN/d1.head")
fl backend del web "$gone"
[[ "$(fl show status)" == *draining* ]] || fail "status knows no draining backend"
for pid in "${pids[@]}"; do
	kill -0 "$pid" || fail "a download was over before the backend was removed"
done
spread=$(http_spread $VIP4 60) || fail "a request failed"
[[ $spread != *"$gone"* ]] || fail "$gone still gets new connections: $spread"

for pid in "${pids[@]}"; do
	wait "$pid" || fail "a download broke"
done
sum=$(sha256sum < "$RUN/big")
for i in {1..8}; do
	equal "checksum of download $i" "$sum" "$(sha256sum < "$RUN/d$i.body")"
done
