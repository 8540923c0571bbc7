#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Commands of exec checks: whatever one does, it ends in time, nothing of it is left,
# and it has nothing that it could do harm with.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh
CHECKER=--allow-exec

# script NAME: a command of the lines of stdin; $RUN/NAME.
script() {
	{
		echo '#!/bin/bash'
		cat
	} > "$RUN/$1"
	chmod 755 "$RUN/$1"
}

mkdir -m 777 "$RUN/out"

script forks <<-'END'
	# Children in the group, out of the group and out of the session, which all hang.
	sleep 4211 &
	set -m
	sleep 4212 &
	setsid sleep 4213 &
	setsid bash -c 'sleep 4214 & sleep 4215' &
	(setsid sleep 4216 &)
	exec sleep 4217
END
script leaves <<-'END'
	# Ends well, and leaves some behind, one of which keeps the output open.
	sleep 4221 &
	setsid sleep 4222 > /dev/null 2>&1 &
	(setsid bash -c 'trap "" TERM; sleep 4223; true' &)
	echo fine
END
script floods <<-'END'
	yes 'the same line again' | head -c 10000000
	exit 4
END
script looks <<-END
	exec > $RUN/out/looks
	grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs):' /proc/self/status
	ls -l /proc/self/fd | awk 'NR > 1 && \$NF !~ "/proc/" { print \$(NF-2), \$NF }'
	/usr/bin/env
	ulimit -n
	ulimit -c
	pwd
END
script reads <<-'END'
	read -r line && echo "got $line" || echo "nothing to read"
END
script ignores <<-'END'
	trap '' TERM INT HUP
	while :; do sleep 4231; done
END

# sleeper NUMBER: as a pattern that does not match itself.
sleepers() { pgrep -f "^(sleep|bash -c .*sleep) ${1}" || true; }
no_sleepers() { [ -z "$(sleepers "$1")" ]; }

TIMEOUT=500 fails '"no end of the command within 500 ms"' exec 127.0.0.1 0 "\"args\":[\"$RUN/forks\"]"
no_sleepers 421 || fail "left when fairlead-check has ended: $(sleepers 421)"
passes '"fine"' exec 127.0.0.1 0 "\"args\":[\"$RUN/leaves\"]"
no_sleepers 422 || fail "left when fairlead-check has ended: $(sleepers 422)"
TIMEOUT=500 fails '"no end of the command within 500 ms"' exec 127.0.0.1 0 "\"args\":[\"$RUN/ignores\"]"
fails '"exit status 4: the same line again"' exec 127.0.0.1 0 "\"args\":[\"$RUN/floods\"]"
passes '"nothing to read"' exec 127.0.0.1 0 "\"args\":[\"$RUN/reads\"]"

# As many arguments as there may be: 3, $0, and 28.
passes '"28 28"' exec 127.0.0.1 0 \
	"\"args\":[\"/bin/bash\",\"-c\",\"echo \$# \${28}\"$(printf ',"%s"' {0..28})]"

# Nobody, with nothing.
passes '"exit status 0"' exec 127.0.0.1 77 "\"args\":[\"$RUN/looks\"]"
seen=$(cat "$RUN/out/looks")
nobody=$(id -u nobody) group=$(id -g nobody) none=0000000000000000
for line in "Uid:	$nobody	$nobody	$nobody	$nobody" "Gid:	$group	$group	$group	$group" \
	"CapInh:	$none" "CapPrm:	$none" "CapEff:	$none" "CapBnd:	$none" "CapAmb:	$none" \
	"NoNewPrivs:	1" FAIRLEAD_PORT=77 FAIRLEAD_ADDR=127.0.0.1 FAIRLEAD_BACKEND=127.0.0.1; do
	grep -qxF "$line" <<< "$seen" || fail "no line '$line' in: $seen"
done
equal "group memberships" "Groups:" "$(grep ^Groups: <<< "$seen" | tr -d '\t ')"
equal "open files" "0 1 2" "$(awk '$1 ~ /^[0-9]+$/ && $2 ~ /^\// || $2 ~ /^pipe/ { print $1 }' <<< "$seen" |
	sort -u | paste -sd' ')"
equal "variables" "FAIRLEAD_ADDR FAIRLEAD_BACKEND FAIRLEAD_PORT PATH" \
	"$(grep -o '^[A-Z_]*=' <<< "$seen" | tr -d = | grep -v -x -E 'PWD|SHLVL|_|OLDPWD' | sort | paste -sd' ')"
equal "directory" / "$(tail -n 1 <<< "$seen")"

# While fairlead-check goes on: nothing is left of a run when the next has begun, and
# of 200 that hang no more than 64 are there at once.
script marks <<-END
	echo run >> $RUN/out/runs
	setsid sleep 4241 &
	(sleep 4242 &)
	sleep 4243
END
hanging() {
	local id

	for id in {1..200}; do
		TIMEOUT=300 INTERVAL=400 probe "$id" exec 127.0.0.1 0 "\"args\":[\"$RUN/marks\"]"
	done
}
hanging > "$RUN/probes"
start_checks "$RUN/probes" --allow-exec
most=0
count_most() {
	local now

	now=$(pgrep -fc 'sleep 4243' || true)
	[ "$now" -le "$most" ] || most=$now
	[ "$(cat "$RUN/out/runs" 2> /dev/null | wc -l)" -ge 250 ]
}
wait_until 120 count_most || fail "commands do not go on"
[ "$most" -le 64 ] || fail "$most commands ran at once"
[ "$most" -gt 1 ] || fail "commands run one after the other"
strangers=$(pgrep -fc 'sleep 424[12]' || true)
[ "$strangers" -le 256 ] || fail "$strangers processes of commands are there"

# When fairleadd is killed, all of it ends.
pid=$(pgrep -xo fairlead-check)
stop many KILL
gone() { ! kill -0 "$pid" 2> /dev/null && no_sleepers 424; }
wait_until 20 gone || fail "left: $(sleepers 424)"
