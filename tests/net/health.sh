# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests of health, beside lib.sh: what is known of backends, long-lived
# connections, and the processes behind both.

# health_of BACKEND MEMBER: of `backend show`, such as effective or health.
health_of() {
	fl --json backend show web |
		jq -r --arg name "$1" --arg member "$2" \
			'.. | objects | select(.name? == $name) | .[$member]'
}

health_is() { [ "$(health_of "$1" "$2")" = "$3" ]; }

# wait_for BACKEND MEMBER VALUE [SECONDS]
wait_for() {
	wait_until "${4:-20}" health_is "$1" "$2" "$3" ||
		fail "$2 of $1 is '$(health_of "$1" "$2")', not '$3': $(health_of "$1" health_reason)"
}

# The table follows the word that they are up.
all_serve() {
	fl --json backend show web |
		jq -e '[.. | objects | select(has("slots"))]
			| ([.[] | select(.effective == "up").name] | contains(["b1", "b2", "b3"]))
			and ([.[].slots] | min > 0)' > /dev/null
}

all_up() {
	wait_until 60 all_serve || fail "not all serve: $(fl backend show web)"
}

status_of() {
	fl --json show status | grep -o "\"$1\":[0-9]*" | grep -o '[0-9]*$'
}

# What happened, as lines of JSON.
start_watch() {
	start watch fe "$O/fairlead" --instance "$ID" --json watch
	wait_until 10 watches || fail "fairlead watch does not run: $(cat "$RUN/watch.log")"
}

watches() { running watch; }

# events KIND: how many of them fairlead watch has told.
events() {
	grep -c "\"event\":\"$1\"" "$RUN/watch.log" || true
}

event_told() { [ "$(events "$1")" -ge "${2:-1}" ]; }

wait_event() {
	wait_until 20 event_told "$@" || fail "no event $1: $(cat "$RUN/watch.log")"
}

start_servers() {
	local host

	for host in b1 b2 b3; do
		start $host-streams $host "$O/tests/net/streams" serve 81 $host
		wait_until 10 tcp_listens $host 81 || fail "streams does not listen on $host"
	done
}

# start_streams ADDRESS HELD RATE
start_streams() {
	rm -f "$RUN/streams.progress"
	start streams client "$O/tests/net/streams" hold "$1" 81 "$2" "$3" \
		"$RUN/streams.progress"
	HELD=$2
	wait_until 30 all_held || fail "not all of $2 connections open: $(cat "$RUN/streams.progress")"
}

# progress FIELD: 1 held, 2 exchanges, 3 new ones, 4 failed.
progress() { cut -d' ' -f"$1" "$RUN/streams.progress"; }

all_held() { [ "$(progress 1 2> /dev/null)" = "$HELD" ]; }

progress_reached() { [ "$(progress "$1")" -ge "$2" ]; }

# Every held one speaks a few times more, and new ones come.
streams_go_on() {
	local good new

	good=$(progress 2) new=$(progress 3)
	wait_until 60 progress_reached 2 $((good + 3 * HELD)) || fail "streams stand still"
	wait_until 60 progress_reached 3 $((new + 10)) || fail "no new connections come through"
}

# stop_streams [BACKEND...]: only connections to these have failed.
stop_streams() {
	local failed allowed=" $* " name

	stop streams
	sed 's/^/streams: /' "$RUN/streams.log"
	failed=$(jq -r '.backends | to_entries[] | select(.value.failed > 0) | .key' \
		"$RUN/streams.log")
	for name in $failed; do
		[[ $allowed == *" $name "* ]] || fail "connections to $name failed"
	done
}

# answers BACKEND STATUS [HEADER]: what its agent on port 8080 says from now on.
answers() {
	printf 'HTTP/1.0 %s\r\n%s\r\n' "$2" "${3:+$3$'\r\n'}" > "$RUN/$1-answer.new"
	mv "$RUN/$1-answer.new" "$RUN/$1-answer"
}

start_agent() {
	start "$1-agent" "$1" "$O/tests/net/hostile" file 8080 "$RUN/$1-answer"
	wait_until 10 tcp_listens "$1" 8080 || fail "the agent does not listen on $1"
}

# Of all backends, beside what they serve; they are well.
start_agents() {
	local host

	for host in b1 b2 b3; do
		answers $host "200 OK"
		start_agent $host
	done
}

# A VIP, whose pool has POOL_KEYS, and its backends, which are all up.
start_with_agents() {
	scripts/topology up "$ID"
	backends $VIP4
	start_agents
	write_config 4 ipip "$VIP4:80/tcp"
	start_fairleadd
	all_up
}

# slots: of b1, b2 and b3, on one line.
slots() {
	fl --json backend show web |
		jq -r '[.. | objects | select(has("slots")) | {name, slots}] | sort_by(.name) |
			map(.slots) | join(" ")'
}

# Of fairlead-check: another one than that runs.
is_another() {
	local pid

	pid=$(status_of checker_pid)
	[ -n "$pid" ] && [ "$pid" != 0 ] && [ "$pid" != "$1" ]
}

reloads() { grep -c "reloaded '" "$RUN/fairleadd.log" || true; }
reloaded() { [ "$(reloads)" -gt "$1" ]; }

# The configuration file is read again, and taken.
reload() {
	local n

	n=$(reloads)
	kill -HUP "$(cat "$RUN/fairleadd.pid")"
	wait_until 20 reloaded "$n" || fail "no reload: $(tail -n 3 "$RUN/fairleadd.log")"
}

# through WHAT COMMAND...: streams go on after it, and none has failed.
through() {
	local what=$1

	shift
	"$@"
	streams_go_on
	equal "connections that failed through: $what" 0 "$(progress 4)"
	echo "$what: none failed"
}
