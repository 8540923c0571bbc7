#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# 200 long-lived connections and a steady rate of new ones, through every change that
# an operator or a server's death makes. Only connections to a backend that really
# died may fail; how many did is printed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

flap() {
	local i

	for i in {1..20}; do
		fl backend set web b2 state drain
		fl backend set web b2 state up
	done
}

bad_reload() {
	cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
	echo "nonsense: true" >> "$RUN/fairlead.yaml"
	kill -HUP "$(cat "$RUN/fairleadd.pid")"
	wait_until 20 grep -q "reload failed" "$RUN/fairleadd.log" || fail "no refusal"
	mv "$RUN/good.yaml" "$RUN/fairlead.yaml"
}

# The VIP goes to another pool, of the same backends by another algorithm.
other_pool() {
	sed -n '/^  web:/,/^vips:/p' "$RUN/fairlead.yaml" |
		sed '$d; s/^  web:/  other:\n    algorithm: capped/' > "$RUN/other.yaml"
	sed -i -e "/^pools:/r $RUN/other.yaml" -e 's/:81.tcp", pool: web/:81\/tcp", pool: other/' \
		"$RUN/fairlead.yaml"
	reload
	grep -q '"pool":"other"' <(fl --json vip show "$VIP4:81/tcp") || fail "the pool did not change"
}

restart_killed() {
	kill -KILL "$(cat "$RUN/fairleadd.pid")"
	wait_until 10 not_running fairleadd || fail "fairleadd survives SIGKILL"
	start_fairleadd
}

POOL_KEYS="check: {type: tcp, via: direct, port: 81, interval: 300ms, timeout: 300ms, fall: 2}"
scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:80/tcp" "$VIP4:81/tcp"
start_fairleadd
all_up
start_streams $VIP4 200 20

through "drain" fl backend set web b1 state drain
through "up again" fl backend set web b1 state up
through "weight" fl backend set web b3 weight 3
through "flapping by command" flap
through "a backend more" fl backend add web 10.1.0.99 weight 0
through "and taken away" fl backend del web 10.1.0.99
through "a VIP more" fl vip add "$VIP4:8080/tcp" pool web
through "and taken away" fl vip del "$VIP4:8080/tcp"
through "an unchanged file" reload
through "a reload that is refused" bad_reload
through "kill -9 and restart" restart_killed
through "a backend removed, which drains" fl backend del web b2
through "and given back" fl backend add web 10.1.0.12 name b2
through "a pool that changes" other_pool

# The server of b1 dies, with what it had; when it is back nobody else has lost any.
stop b1-streams KILL
wait_for b1 effective down
streams_go_on
start b1-streams b1 "$O/tests/net/streams" serve 81 b1
wait_for b1 effective up
wait_until 30 all_held || fail "not all connections are open again"
stop_streams b1 -
