#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 200 long-lived connections and a steady rate of new ones while their VIP is given
# another pool and its first one back, and its backends other names: none fails. What is
# known of the backends is known in the other pool, too, once somebody is asked for it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

rename() {
	sed -i 's/name: b/name: renamed-/' "$RUN/fairlead.yaml"
	reload
}

POOL_KEYS="check: {type: tcp, via: direct, port: 81, interval: 1h}
initial_timeout: 0"
scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:80/tcp" "$VIP4:81/tcp"
# A pool "other" that is as "web".
awk '/^  web:/ { on = 1 } /^vips:/ { on = 0; printf "%s", copy }
	on { copy = copy $0 "\n" } { print }' "$RUN/fairlead.yaml" |
	awk '/^  web:/ && seen++ { sub("web", "other") } { print }' > "$RUN/two.yaml"
mv "$RUN/two.yaml" "$RUN/fairlead.yaml"
start_fairleadd
all_up
start_streams $VIP4 200 20

through "another pool" fl vip set "$VIP4:81/tcp" pool other
results=$(status_of check_results)
is_known() { fl --json backend show other | jq -e 'all(.backends[]; .health == "up")' > /dev/null; }
wait_until 10 is_known || fail "the other pool does not know what the first one does"
equal "results, none of which was waited for" "$results" "$(status_of check_results)"
through "and the first one again" fl vip set "$VIP4:81/tcp" pool web
through "backends by other names" rename
stop_streams
