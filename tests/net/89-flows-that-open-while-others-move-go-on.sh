#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Connections that open after the flows were moved to maps of another size, and before
# the new program runs, are in no map of it. They go on all the same: the tables are
# those by which the old program chose, and with the next packet they are known.
. "$(dirname "$0")/lib.sh"

started() { grep -q X-Backend "$RUN/$1.head" 2> /dev/null; }
flows() { fl --json show flows | sed 's/^{"flows":\([0-9]*\),.*/\1/'; }
is_ready() { [ -e "$RUN/late" ]; }

# hold FROM TO: downloads of these numbers, stopped.
hold() {
	local i

	for ((i = $1; i <= $2; i++)); do
		nsenter --net="/run/netns/fl$ID-client" curl -sS -f --limit-rate 2M \
			-D "$RUN/d$i.head" -o "$RUN/d$i.body" "http://$VIP4/big" &
		pids+=($!)
		wait_until 20 started "d$i" || fail "download $i did not start"
		kill -STOP $! || fail "download $i was over too soon"
	done
}

# Stopped downloads send nothing of their own: acknowledgements of the kernel do.
all_known() { [ "$(flows)" -ge 16 ]; }

pids=()
balanced 4 ipip $VIP4
hold 1 8
# The tables are not those that the first eight came by.
sed -i 's/^flows: .*/flows: 256K/; s/\(name: b[12]\)}/\1, weight: 0}/' "$RUN/fairlead.yaml"
stop fairleadd
start fairleadd fe env LATE="$RUN/late" LD_PRELOAD="$PWD/$O/tests/net/late_link_update.so" \
	"$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID"
wait_until 20 is_ready || fail "no new program is ready: $(cat "$RUN/fairleadd.log")"
hold 9 16
rm "$RUN/late"
wait_until 20 fairleadd_settled || fail "fairleadd does not answer: $(cat "$RUN/fairleadd.log")"
grep -q "notice: flow maps: 8 flows moved to maps of another size" "$RUN/fairleadd.log" ||
	fail "the flows were not moved before: $(cat "$RUN/fairleadd.log")"

kill -CONT "${pids[@]}"
wait_until 20 all_known || fail "$(flows) of 16 flows are known"
# Known they stay where they are, whatever the tables say now.
fl backend set web 10.1.0.11 weight 1
fl backend set web 10.1.0.13 weight 0
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a download broke"
done
for i in {1..16}; do
	equal "checksum of download $i" "$(sha256sum < "$RUN/big")" \
		"$(sha256sum < "$RUN/d$i.body")"
done
equal "backends of the late ones" b3 "$(cat "$RUN"/d{9..16}.head | tr -d '\r' |
	awk '/X-Backend/ { print $2 }' | sort -u)"
