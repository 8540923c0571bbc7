#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whoever sits on the read-only socket, watching, idle or with answers that he does not
# read, by himself or with others, keeps nobody from asking; and who finds no room to
# watch is told so.
. "$(dirname "$0")/lib.sh"

socket=/run/fairlead/$ID/fairlead-ro.sock
watch='{"id": 1, "verb": "watch"}'
query='{"id": 1, "verb": "backend.show"}'

# as_user UID COMMAND...
as_user() {
	local uid=$1

	shift
	on fe setpriv --reuid="$uid" --regid="$uid" --clear-groups "$@"
}

# ask UID LINE: all that is answered.
ask() { as_user "$1" socat -t 5 - "UNIX-CONNECT:$socket" <<< "$2"; }

# sit UID NUMBER [LINE [TIMES]]: they stay until get_up.
sit() {
	local uid=$1

	shift
	start "sitters$uid" fe setpriv --reuid="$uid" --regid="$uid" --clear-groups \
		"$O/tests/net/sitters" "$socket" "$@"
	wait_until 20 sits "$uid" || fail "they do not sit: $(cat "$RUN/sitters$uid.log")"
}

sits() { grep -q 'sit$' "$RUN/sitters$1.log"; }

get_up() {
	local uid

	for uid in "$@"; do
		stop "sitters$uid" KILL
		rm "$RUN/sitters$uid.log"
	done
}

# stay UID: one that waits for `say UID LINE`, and notes what it is told.
stay() {
	mkfifo -m 666 "$RUN/lines$1"
	# Open for both, so that the other end never ends.
	# shellcheck disable=SC2016
	start "stay$1" fe setpriv --reuid="$1" --regid="$1" --clear-groups \
		bash -c 'exec 3<> "$0"; exec socat -t 5 - "UNIX-CONNECT:$1" <&3' \
		"$RUN/lines$1" "$socket"
	wait_until 10 was_told "$1" '"fairlead":' || fail "no greeting for $1"
}

say() { echo "$2" > "$RUN/lines$1"; }

was_told() { grep -q "$2" "$RUN/stay$1.log"; }

# can_ask UID...: each of them is answered.
can_ask() {
	local uid

	for uid in "$@"; do
		has "$(as_user "$uid" "$O/fairlead" --instance "$ID" --json show status 2>&1)" \
			'"checker_restarts"'
	done
}

# told_why LINE SENTENCE
told_why() {
	has "$1" '"code":"busy"'
	has "$1" "$2"
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
start_fairleadd

sit 1001 200 "$watch"
can_ask 1001 1002
told_why "$(ask 1001 "$watch")" 'uid 1001 watches over 32 connections'
stay 1002
say 1002 "$watch"
wait_until 10 was_told 1002 '"ok":true' || fail "one of another user cannot watch"
sit 1003 200 "$watch"
told_why "$(ask 1004 "$watch")" '64 clients of this control socket watch'
can_ask 1001 1002 1003 1004
running stay1002 || fail "who watches is sent away for another"
get_up 1001 1003
has_room() { [[ $(ask 1004 "$watch" | tail -n 1) == *'"ok":true'* ]]; }
wait_until 10 has_room || fail "no room to watch though they have gone"

# Who only waits need not go because another user comes with too many.
stay 1005
for line in "" "$query"; do
	sit 1002 200 ${line:+"$line" 1000}
	can_ask 1002 1003
	get_up 1002
done
say 1005 "$query"
wait_until 10 was_told 1005 '"ok":true' || fail "who waits is sent away for another user"

for line in "" "$query"; do
	for uid in 1001 1002 1003; do
		sit $uid 200 ${line:+"$line" 1000}
	done
	can_ask 1001 1002 1003 1004
	get_up 1001 1002 1003
done
running stay1002 || fail "who watches is sent away for those who do nothing"
