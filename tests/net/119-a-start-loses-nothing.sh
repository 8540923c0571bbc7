#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# At a start no backend is known to be up, and yet no quorum is lost and nobody panics:
# nothing was had. A pool is judged when the health of all its backends is known, and
# then what it lacks is told, once.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# told: the kinds of events of the pool since the start, in their order.
told() {
	grep -o '"event":"\(pool\|quorum\)_[a-z]*' "$RUN/watch.log" | sed 's/.*"//' | paste -sd' '
}
told_is() { [ "$(told)" = "$1" ]; }

start_anew() {
	start_fairleadd
	start watch fe "$O/fairlead" --instance "$ID" --json watch --since 1
}

POOL_KEYS="check: {type: http, via: direct, port: 80, interval: 300ms, timeout: 300ms}
quorum: 2
quorum_hysteresis: 1
panic_threshold: 50"
scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
start_anew
all_up
equal "told at a start when all is well" "" "$(told)"

# Lost is what was there; it comes back as the hysteresis says.
stop b2-http KILL
stop b3-http KILL
wait_until 20 told_is "pool_panic quorum_lost" || fail "told was '$(told)'"
stop watch
stop fairleadd
on fe "$O/fairleadd" --instance "$ID" --teardown 2> /dev/null

# Two are dead from the start: told when that is known of both, and not before.
start_anew
wait_until 20 told_is "pool_panic quorum_lost" || fail "told was '$(told)' with two dead"
equal "backends that were known to be down by then" 2 \
	"$(sed '/quorum_lost/q' "$RUN/watch.log" | grep -c backend_down)"
equal "health of b2" down "$(health_of b2 health)"
equal "health of b3" down "$(health_of b3 health)"
start_http b2
wait_until 20 told_is "pool_panic quorum_lost pool_calm" || fail "told was '$(told)'"
start_http b3
wait_until 20 told_is "pool_panic quorum_lost pool_calm quorum_regained" ||
	fail "told was '$(told)'"
stop watch
stop fairleadd
on fe "$O/fairleadd" --instance "$ID" --teardown 2> /dev/null

# Nobody answers within initial_timeout: that is known then.
sed -i 's/interval: 300ms, timeout: 300ms/interval: 1h, timeout: 1m/; s/^    quorum: 2/    initial_timeout: 500ms\n&/' \
	"$RUN/fairlead.yaml"
for host in b1 b2 b3; do
	stop $host-http KILL
	start $host-hang $host socat -u TCP-LISTEN:80,fork,reuseaddr OPEN:/dev/null
	wait_until 10 tcp_listens $host 80 || fail "socat does not listen on $host"
done
start_anew
wait_until 20 told_is "pool_panic quorum_lost" || fail "told was '$(told)' with none that answers"
