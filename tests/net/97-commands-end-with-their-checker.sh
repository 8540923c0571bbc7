#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the commands of checks have started ends with fairlead-check, however that ends:
# also what has left its group and session, and what goes on forking. Other children of
# fairleadd, and other processes of the same user, do not.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

# A chain: each is the parent of the next one, and ends.
cat > /run/chain <<'END'
#!/bin/sh
sleep 0.2
setsid "$0" "$1" &
END
cat > /run/command <<'END'
#!/bin/sh
setsid /run/chain $PPID &
setsid sh -c "sleep 1000.$PPID & sleep 1000.$PPID" &
sleep 1000.$PPID &
sleep 1000.$PPID
END
chmod 755 /run/chain /run/command

# left_of CHECKER: the processes that its commands have started.
left_of() { pgrep -f "(sleep 1000.|/run/chain )$1\$"; }
# Until it runs again, its pid is 0.
runs() { pid=$(status_of checker_pid) && [ "$(left_of "$pid" | wc -l)" -ge 13 ]; }
none_of() { ! left_of "$1" > /dev/null && ! [ -d "/proc/$1" ]; }
started() {
	wait_until 20 runs || fail "the commands do not run: $(left_of "$pid")"
}
all_end() { wait_until 20 none_of "$pid" || fail "$1: left over: $(ps -eo pid,ppid,user,args)"; }

CHECK="check: {type: exec, command: [/run/command], interval: 1m, timeout: 1m}"
POOL_KEYS=$CHECK
scripts/topology up "$ID"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
sed -i 's/^attach: native/&\ncheck_exec: true/' "$RUN/fairlead.yaml"

# As a script that does more than one thing starts it.
start fairleadd fe sh -c \
	'setpriv --reuid=nobody --regid=nogroup --clear-groups --no-new-privs sleep 2000 & exec "$@"' - \
	"$O/fairleadd" --foreground --config "$RUN/fairlead.yaml" --instance "$ID"
wait_until 20 fairleadd_settled || fail "fairleadd does not answer"

started
kill -KILL "$pid"
all_end "fairlead-check was killed"

started
sed -i 's/^check_exec: true/&\ncheck_user: daemon/' "$RUN/fairlead.yaml"
reload
all_end "another check_user"

started
sed -i '/^check_exec/d; s/check: {type: exec.*/check: {type: icmp, interval: 300ms}/' "$RUN/fairlead.yaml"
reload
all_end "no check_exec"

sed -i "s/^attach: native/&\ncheck_exec: true/; s|check: {type: icmp.*|$CHECK|" "$RUN/fairlead.yaml"
reload
started
kill -STOP "$pid" # it hangs
pgrep -fx "sleep 2000" > /dev/null || fail "another child of fairleadd was killed"
stop fairleadd
all_end "fairleadd has stopped, and fairlead-check hung"

start_fairleadd
started
stop fairleadd
none_of "$pid" || fail "fairleadd has stopped: left over: $(ps -eo pid,ppid,user,args)"

start_fairleadd
started
stop fairleadd KILL
all_end "fairleadd was killed"
