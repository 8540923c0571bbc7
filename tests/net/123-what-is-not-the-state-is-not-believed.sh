#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Whatever lies in the place of health.json: fairleadd starts, says once why it does not
# believe it, and writes it anew. What it quotes from the file cannot forge lines of the
# log. A directory that cannot be written is told once, and once when it can.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

file=/run/fairlead/$ID/health.json
logged() { grep -c -- "$1" "$RUN/fairleadd.log" || true; }

is_written() {
	[ -f "$file" ] && [ ! -L "$file" ] &&
		[ "$(jq '.backends | length' "$file" 2> /dev/null)" = 3 ]
}

# unbelieved WHY: a daemon starts with what is there.
unbelieved() {
	start_fairleadd
	equal "what is said of '$1'" 1 "$(logged "not believed: '$file' $1")"
	equal "sentences" 1 "$(logged 'not believed')"
	wait_until 30 is_written || fail "the file is not written anew after '$1'"
	stop fairleadd KILL
}

POOL_KEYS="check: {type: http, via: direct, port: 80, interval: 500ms, timeout: 500ms, fall: 2}"
balanced 4 ipip $VIP4
all_up
equal "sentences at a first start" 0 "$(logged 'not believed')"
wait_until 30 is_written || fail "the file is not written"
stop fairleadd KILL
cp "$file" "$RUN/good.json"

echo '{"version": 1, "boot' > "$file"
unbelieved 'is not JSON: line 1, column 20: unexpected newline'
head -c 100000 /dev/urandom > "$file"
unbelieved 'is not JSON'
: > "$file"
unbelieved 'is not JSON'
jq '.version = 2' "$RUN/good.json" > "$file"
unbelieved 'has version 2, not 1'
jq '.backends = 7' "$RUN/good.json" > "$file"
unbelieved 'has not what a state of health is made of'
jq '.saved = 9e15' "$RUN/good.json" > "$file"
unbelieved 'says that it was written at a time to come'
jq '.boot_id = "another"' "$RUN/good.json" > "$file"
unbelieved 'was written before this host was booted'
head -c 20000000 /dev/zero | tr '\0' '[' > "$file"
unbelieved 'is longer than [0-9]* bytes'
rm "$file"
mkfifo "$file"
mkfifo "$file.new"
unbelieved 'is not a regular file'
rm "$file"
ln -s "$RUN/good.json" "$file"
ln -s "$RUN/fairlead.yaml" "$file.new"
unbelieved 'is a symbolic link'
grep -q '^pools' "$RUN/fairlead.yaml" || fail "the configuration is overwritten"

# One whose form is wrong costs only itself; the others are believed.
jq '.backends[0].state = 9' "$file" > "$RUN/edited.json"
cp "$RUN/edited.json" "$file"
start_fairleadd
equal "taken" 1 "$(logged 'the health of 2 backends is known')"
equal "not taken" 1 "$(logged 'the health of 1 backend is not believed, as it is not of a form')"
all_up
stop fairleadd KILL

# They pass for down, with a reason that would be another line of the log.
jq '.backends[].state = 2 | .backends[].reason = "x\u001b[2J\nforged: line\u00e9"' "$file" \
	> "$RUN/edited.json"
cp "$RUN/edited.json" "$file"
sed -i 's/interval: 500ms/interval: 1m/' "$RUN/fairlead.yaml"
start_fairleadd
equal "reason" 'x?[2J?forged: line??' "$(health_of b1 health_reason)"
fl backend drain web b1
fl backend up web b1
equal "lines forged" 0 "$(logged '^forged')"
stop fairleadd

# It cannot be written, whoever one is.
sed -i 's/interval: 1m/interval: 500ms/' "$RUN/fairlead.yaml"
start_fairleadd
all_up
mkdir "$file.new"
cannot_write() { [ "$(logged "cannot write '$file'")" -gt 0 ]; }
for host in b1 b2; do
	stop $host-http KILL
	wait_for $host effective down
	wait_until 20 cannot_write || fail "that it cannot be written is not told"
	start_http $host
	wait_for $host effective up
done
equal "warnings" 1 "$(logged "cannot write '$file'")"
rmdir "$file.new"
is_told() { [ "$(logged 'health outlives a restart again')" = 1 ]; }
wait_until 20 is_told || fail "that it can be written again is not told"
