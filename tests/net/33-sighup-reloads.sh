#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SIGHUP makes the file the running configuration, under load and without a
# failed request; a bad file changes nothing.
. "$(dirname "$0")/lib.sh"

without_b3() {
	[[ "$(fl show status)" =~ backends\ +2 ]]
}

said_error() {
	grep -q "weigth" "$RUN/fairleadd.log"
}

balanced 4 ipip $VIP4
start_load $VIP4
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
sed -i '/name: b3/d' "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 without_b3 || fail "the reload did not take b3 away"
spread=$(http_spread $VIP4 60)
[[ $spread != *b3* ]] || fail "b3 still gets new connections: $spread"

# A key that does not exist, at a place that the message names.
sed 's/name: b1/weigth: 2/' "$RUN/good.yaml" > "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 said_error || fail "the bad file went unnoticed"
grep -Eq "fairlead.yaml:9:[0-9]+: .*weigth" "$RUN/fairleadd.log" ||
	fail "the message does not name the place"
without_b3 || fail "the bad file changed the running state"

cp "$RUN/good.yaml" "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
load_goes_on
stop_load
