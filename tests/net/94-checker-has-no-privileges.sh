#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# fairlead-check gives up what it does not need, starts for nobody but fairleadd, ends
# with it, and ends when it is told what it does not understand.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

checker_pid() { pgrep -xo fairlead-check; }
status_of() { awk -v key="$2:" '$1 == key { $1 = ""; print substr($0, 2) }' "/proc/$1/status"; }
answered() { [ -s "$RUN/many.log" ]; }
ended() { ! kill -0 "$1" 2> /dev/null; }

# A named pipe, so that lines can be sent later.
mkfifo "$RUN/lines"
ulimit -Sn 512
start_checks "$RUN/lines"
exec 7> "$RUN/lines"
echo '{"op":"ping","seq":4294967295}' >&7
wait_until 10 answered || fail "no pong"
equal "the answer to a ping" '{"op":"pong","seq":4294967295}' "$(cat "$RUN/many.log")"

pid=$(checker_pid) nobody=$(id -u nobody) group=$(id -g nobody) none=0000000000000000
raw=0000000000002000
for set in CapPrm CapEff; do
	equal "$set" $raw "$(status_of "$pid" $set)"
done
for set in CapInh CapBnd CapAmb; do
	equal "$set" $none "$(status_of "$pid" $set)"
done
equal "users" "$nobody $nobody $nobody $nobody" "$(status_of "$pid" Uid)"
equal "groups" "$group $group $group $group" "$(status_of "$pid" Gid)"
equal "other groups" "" "$(status_of "$pid" Groups)"
equal "no new privileges" 1 "$(status_of "$pid" NoNewPrivs)"
equal "stdin" /dev/null "$(readlink "/proc/$pid/fd/0")"
has "$(readlink "/proc/$pid/fd/3")" "socket:"
# tests/net/checks leaves a copy of its stdin, the named pipe, as file descriptor 5.
[[ $(ls -l "/proc/$pid/fd") != *"$RUN/lines"* ]] || fail "files of the parent are open"
files=$(awk '/^Max open files/ { print $4 }' "/proc/$pid/limits")
[ "$files" -ge "$(ulimit -Hn)" ] || fail "it may open only $files files"

# With its parent gone, it is.
stop many KILL
wait_until 10 ended "$pid" || fail "it goes on without its parent"
exec 7>&-

# In good order at the end of the channel, and at SIGTERM.
echo '{"op":"ping","seq":1}' > "$RUN/probes"
probe 1 icmp 127.0.0.1 0 | checks 3 > /dev/null || fail "it ended with $?"
start_checks "$RUN/probes"
wait_until 10 answered || fail "no pong"
pid=$(checker_pid)
kill -TERM "$pid"
wait_until 10 not_running many || fail "it goes on after SIGTERM"

# broken WORDS LINE: ends it, with a sentence.
broken() {
	local status=0

	printf '%s\n' "$2" | checks 0 || status=$?
	equal "exit status after: ${2:0:80}" 65 "$status"
	one_line "$(cat "$RUN/checker.log")"
	has "$(cat "$RUN/checker.log")" "error: message of fairleadd: $1"
}

add=$(probe 1 icmp 127.0.0.1 0)
broken "a line is not JSON" 'hello'
broken "op 'hello' is unknown" '{"op":"hello"}'
broken "it is one that fairlead-check sends; ending" '{"op":"pong","seq":1}'
broken "there is no probe 7; ending" '{"op":"del","id":7}'
broken "probe 1 is there already; ending" "$add"$'\n'"$add"
broken "a line has more than 65536 bytes; ending" "$(printf '%065537d' 0)"

# After its "del" a probe is not heard of any more, and its id is free.
{
	echo "$add"
	INTERVAL=50 probe 2 icmp 127.0.0.1 0
	echo '{"op":"del","id":1}'
	TIMEOUT=400 probe 3 tcp 127.0.0.1 1
	echo '{"op":"del","id":3}'
	probe 3 icmp ::1 0
} | checks 12 > "$RUN/out"
equal "results of a deleted probe" 0 "$(grep -c '"id":1,' "$RUN/out" || true)"
equal "results of the probe before" 0 "$(grep -c '"id":3,.*"ok":false' "$RUN/out" || true)"
has "$(cat "$RUN/out")" '"id":3,"ok":true'

# Who may start it, and as whom.
refused 64 "file descriptor 3 is no socket" "fairleadd" -- "$O/fairlead-check"
refused 64 "file descriptor 3 is no socket" -- "$O/fairlead-check" 3< /dev/null
refused 64 "'now' is not an option" -- "$O/fairlead-check" now
broken_start() {
	local status=0

	checks 0 --user "$2" < /dev/null || status=$?
	equal "exit status as $2" 64 "$status"
	has "$(cat "$RUN/checker.log")" "$1"
}
broken_start "user 'root' is root; checks run as a user without privileges" root
broken_start "there is no user 'no-such-user'" no-such-user
CHECKER="--user daemon --allow-exec" passes "\"$(id -u daemon)\"" exec 127.0.0.1 0 \
	'"args":["/usr/bin/id","-u"]'

# Who is not root stays who he is, and does without echoes.
result_of_user() {
	probe 1 "$@" | setpriv --reuid=nobody --regid=nogroup --clear-groups --bounding-set=-all \
		"$O/tests/net/checks" 1 30 "$O/fairlead-check" 2>&1
}
has "$(result_of_user tcp 127.0.0.1 1)" '"connection refused"'
has "$(result_of_user icmp 127.0.0.1 0)" \
	'"cannot open a raw socket, which takes CAP_NET_RAW: operation not permitted"'
has "$(MARK=7 result_of_user tcp 127.0.0.1 1)" '"cannot mark packets: operation not permitted"'
