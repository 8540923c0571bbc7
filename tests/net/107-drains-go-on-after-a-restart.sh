#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How long a removed backend may keep its connections outlives the daemon, kill -9
# included, also where nothing is checked. An end that is of another boot is not
# believed: the time begins anew.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

file=/run/fairlead/$ID/health.json
ended() { [ "$(progress 4)" -gt 0 ]; }
drain_is_saved() { [ "$(jq '.drains | length' "$file" 2> /dev/null)" = 1 ]; }
none_is_saved() { [ "$(jq '.drains | length' "$file" 2> /dev/null)" = 0 ]; }

# restart EDIT: without a word to the daemon, and with another file.
restart() {
	stop fairleadd KILL
	jq "$1" "$file" > "$RUN/health.json"
	cp "$RUN/health.json" "$file"
	start_fairleadd
}

POOL_KEYS="drain_timeout: 1h"
scripts/topology up "$ID"
backends $VIP4
start_servers
write_config 4 ipip "$VIP4:81/tcp"
start_fairleadd
start_streams $VIP4 30 10
fl backend del web b2
wait_until 20 drain_is_saved || fail "the file does not have the drain: $(cat "$file")"
equal "its timeout" 3600 "$(jq '.drains[0].timeout' "$file")"

restart .
wait_until 20 drain_is_saved || fail "the drain is forgotten: $(cat "$file")"
streams_go_on
equal "connections that ended" 0 "$(progress 4)"

# Of another boot: an hour from now on.
restart '.boot_id = "another" | .drains[0].timeout = 3600 | .drains[0].until = 1'
streams_go_on
equal "connections that ended" 0 "$(progress 4)"

# Over meanwhile.
restart '.drains[0].until = 1'
wait_until 60 ended || fail "connections to b2 go on for ever"
wait_until 30 all_held || fail "not all connections are open again"
stop_streams b2

# Taken back, it drains no more.
fl backend add web 10.1.0.12 name b2
wait_until 20 none_is_saved || fail "the file still has the drain: $(cat "$file")"
