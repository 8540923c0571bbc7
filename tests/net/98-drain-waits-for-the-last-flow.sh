#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A backend that drains keeps its download; who waits for the last flow is told how
# many are left, may give up or be stopped, and returns when there is none. Who
# watches sees each change, once, from the read-only socket too.
. "$(dirname "$0")/lib.sh"

cli="nsenter --net=/run/netns/fl$ID-fe $O/fairlead --instance $ID"

started() {
	grep -q X-Backend "$RUN/head" 2> /dev/null
}

state_of() {
	fl --json backend show web |
		grep -o "\"name\":\"$1\"[^}]*\"state\":\"[a-z]*" | sed 's/.*"//'
}

# said FILE TEXT
said() {
	grep -qF -- "$2" "$1" 2> /dev/null
}

# ended STATUS PID
ended() {
	local got=0

	wait "$2" || got=$?
	equal "exit status" "$1" "$got"
}

scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip $VIP4:80/tcp
start_fairleadd

$cli watch --since 1 --json > "$RUN/events" 2> "$RUN/watch.log" &
watch=$!
on fe setpriv --reuid 65534 --clear-groups "$O/fairlead" --instance "$ID" watch \
	--since 1 > "$RUN/events-text" 2>> "$RUN/watch.log" &
watch_text=$!

on client curl -sS -f --limit-rate 4M -D "$RUN/head" -o "$RUN/body" "http://$VIP4/big" &
download=$!
wait_until 10 started || fail "the download did not start"
backend=$(sed -n 's/^X-Backend: \(b[123]\).*/\1/p' "$RUN/head")

status=0
fl backend drain web "$backend" --wait --timeout 1 2> "$RUN/first" || status=$?
equal "status when time is over" 75 $status
has "$(cat "$RUN/first")" "1 flow left on backend '$backend' of 'web' after 1 s; it goes on draining"
equal "state after that" drain "$(state_of "$backend")"
wait_until 10 said "$RUN/events" "\"event\":\"backend_drain\",\"pool\":\"web\",\"backend\":\"$backend\"" ||
	fail "nobody was told: $(cat "$RUN/events")"
wait_until 10 said "$RUN/events-text" "backend_drain    $backend (" ||
	fail "the reader was not told: $(cat "$RUN/events-text")"

$cli backend drain web "$backend" --wait 2> "$RUN/second" > /dev/null &
waiting=$!
wait_until 10 said "$RUN/second" "1 flow left" || fail "no progress: $(cat "$RUN/second")"
kill -TERM $waiting
ended 130 $waiting
has "$(cat "$RUN/second")" "it goes on draining"
equal "state after a signal" drain "$(state_of "$backend")"

$cli backend drain web "$backend" --wait --json 2> "$RUN/third" > "$RUN/third.out" &
waiting=$!
wait_until 10 said "$RUN/third" '{"progress":{"flows":1}}' || fail "no progress: $(cat "$RUN/third")"
wait $download || fail "the download broke"
equal "checksum" "$(sha256sum < "$RUN/big")" "$(sha256sum < "$RUN/body")"
# Its flow would be remembered for four more minutes.
fl flow flush --vip "$VIP4:80/tcp" > /dev/null
ended 0 $waiting
has "$(cat "$RUN/third.out")" '{"flows":0,"waited_s":'

# Taken back, it is not waited for.
on client curl -sS -f -o /dev/null "http://$VIP4/" || fail "a request failed"
fl backend up web "$backend"
wait_until 10 said "$RUN/events" "\"event\":\"backend_up\",\"pool\":\"web\",\"backend\":\"$backend\"" ||
	fail "nobody was told: $(cat "$RUN/events")"
fl backend down web "$backend"
equal "state" down "$(state_of "$backend")"
wait_until 10 said "$RUN/events" "\"event\":\"backend_down\",\"pool\":\"web\",\"backend\":\"$backend\"" ||
	fail "nobody was told: $(cat "$RUN/events")"
equal "events" 3 "$(grep -c "\"backend\":\"$backend\"" "$RUN/events")"

kill -TERM $watch
ended 0 $watch
stop fairleadd
ended 69 $watch_text
has "$(cat "$RUN/watch.log")" "closed the connection"
