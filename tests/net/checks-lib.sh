# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What tests of fairlead-check stand on, after lib.sh: servers on the loopback of the
# test's own namespace, and probes that the real program runs.

mkdir -p "$RUN"

# serve NAME COMMAND...: in the background, output in $RUN/NAME.log.
serve() {
	local name=$1

	shift
	"$@" > "$RUN/$name.log" 2>&1 < /dev/null &
	echo $! > "$RUN/$name.pid"
	disown $!
}

# hostile MODE PORT [ARGUMENT]: tests/net/hostile.c, when it listens.
hostile() {
	serve "hostile-$2" "$O/tests/net/hostile" "$@"
	wait_until 10 listens "$2" || fail "hostile $1 does not listen"
}

listens() { [ -n "$(ss -Hltun "sport = :$1")" ]; }

# probe ID KIND ADDRESS PORT [MEMBERS]: the line that adds it. MEMBERS are those of the
# check, as JSON, beside the usual ones; TIMEOUT, INTERVAL and MARK may be set.
probe() {
	local members=${5:-}

	case $2,$members in
	http*status_min*) ;;
	http*) members="${members:+$members,}\"status_min\":200,\"status_max\":299" ;;
	esac
	printf '{"op":"add","id":%s,"addr":"%s","port":%s,"mark":%s,"backend":"%s","check":%s}\n' \
		"$1" "$3" "$4" "${MARK:-0}" "$3" \
		"{\"kind\":\"$2\",\"via\":\"direct\",\"interval\":${INTERVAL:-100},\"timeout\":${TIMEOUT:-10000},\"rise\":1,\"fall\":1${members:+,$members}}"
}

# checks RESULTS [OPTION...]: runs fairlead-check on the lines of stdin.
checks() {
	local results=$1

	shift
	"$O/tests/net/checks" "$results" $((30 * ${SLOWER:-1})) "$O/fairlead-check" "$@" \
		2> "$RUN/checker.log"
}

# start_checks PROBES [OPTION...]: goes on with the probes in that file; its lines are
# in $RUN/many.log, and `stop many` ends what stands in for fairleadd.
start_checks() {
	local probes=$1

	shift
	rm -f "$RUN/many.log" # of one before
	"$O/tests/net/checks" 0 600 "$O/fairlead-check" "$@" < "$probes" \
		> "$RUN/many.log" 2> "$RUN/checker.log" &
	echo $! > "$RUN/many.pid"
	disown $!
}

# result KIND ADDRESS PORT [MEMBERS]: of one run. CHECKER has options.
result() {
	# shellcheck disable=SC2086
	probe 1 "$@" | checks 1 ${CHECKER:-} || fail "no result of: $*"
}

# ends OK WORDS ARGUMENT-OF-RESULT...: the run passed or failed, and says so.
ends() {
	local ok=$1 words=$2 got

	shift 2
	got=$(result "$@")
	has "$got" "\"ok\":$ok,"
	has "$got" "$words"
}

passes() { ends true "$@"; }
fails() { ends false "$@"; }
