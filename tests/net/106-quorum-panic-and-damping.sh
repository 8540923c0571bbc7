#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What is said and done when few backends are left: the quorum is lost and regained with
# hysteresis, in panic all serve. One that comes and goes is kept out until it has calmed
# down, though its check passes. Each is told once.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

all_have_slots() { [[ " $(slots) " != *" 0 "* ]]; }
without() { [[ " $(slots) " == *" 0 "* ]]; }

# told: the kinds of events of the pool and of damping since the start, in their order.
told() {
	grep -o '"event":"\(pool\|quorum\)_[a-z]*\|"event":"backend_\(damped\|calm\)' "$RUN/watch.log" |
		sed 's/.*"//' | paste -sd' '
}

told_is() { [ "$(told)" = "$1" ]; }
wait_told() { wait_until 30 told_is "$1" || fail "told was '$(told)', not '$1'"; }

down() {
	answers "$1" "503 Busy"
	wait_for "$1" effective down
}

up() {
	answers "$1" "200 OK"
	wait_for "$1" effective up
}

POOL_KEYS="check: {type: http, port: 8080, interval: 200ms, timeout: 200ms, fall: 2}
quorum: 2
quorum_hysteresis: 1
panic_threshold: 50"
start_with_agents
# What came before was the start: none was up yet.
start_watch
full=$(slots)

# Two of three are up: a quorum, and no panic.
down b2
wait_until 20 without || fail "b2 has slots: $(slots)"
equal "told with two of three" "" "$(told)"
down b3
wait_told "pool_panic quorum_lost"
wait_until 20 all_have_slots || fail "in panic not all serve: $(slots)"
equal "effective state of b3 in panic" down "$(health_of b3 effective)"
check_http_spread $VIP4
has "$(grep quorum_lost "$RUN/watch.log")" "1 of weight 3 is up"

# Two are enough to calm down, and not to regain what was lost.
up b3
wait_told "pool_panic quorum_lost pool_calm"
wait_until 20 without || fail "b2 has slots after the panic: $(slots)"
up b2
wait_told "pool_panic quorum_lost pool_calm quorum_regained"
slots_are() { [ "$(slots)" = "$1" ]; }
wait_until 20 slots_are "$full" || fail "slots are $(slots), and were $full"

# Damping: after some ups and downs it stays out.
stop watch
fl apply <(sed 's/^    quorum: 2/    damping: {suppress: 1500, reuse: 1200, half_life: 8s}/
	/quorum_hysteresis/d' "$RUN/fairlead.yaml") > "$RUN/apply.out"
start_watch
for i in {1..8}; do
	answers b2 "503 Busy"
	wait_for b2 health down
	answers b2 "200 OK"
	wait_for b2 health up
	[ "$(events backend_damped)" = 0 ] || break
done
wait_event backend_damped
echo "damped after $i times down"
equal "effective state of b2" down "$(health_of b2 effective)"
equal "why" damped "$(health_of b2 why)"
equal "what its check says" up "$(health_of b2 health)"
spread=$(http_spread $VIP4 60) || fail "a request failed"
[[ $spread != *b2* ]] || fail "b2 answered: $spread"
wait_for b2 effective up 60
wait_told "backend_damped backend_calm"
wait_until 20 slots_are "$full" || fail "slots are $(slots), and were $full"
