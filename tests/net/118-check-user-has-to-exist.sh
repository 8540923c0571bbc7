#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A check_user that this host does not have is warned of where the file is only looked
# at, and refused where it would run: at the start, by a reload and by apply. Without a
# check it does not matter.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/health.sh"

says="check_user 'no-such-user' is no user of this host"

with_user() { sed "s/^attach: native/&\ncheck_user: $1/" "$RUN/good.yaml" > "$RUN/fairlead.yaml"; }

scripts/topology up "$ID"
POOL_KEYS="check: {type: http, via: direct, port: 80}"
backends $VIP4
write_config 4 ipip "$VIP4:80/tcp"
cp "$RUN/fairlead.yaml" "$RUN/good.yaml"
with_user no-such-user

has "$("$O/fairlead" check "$RUN/fairlead.yaml")" "$says"
[[ $("$O/fairlead" check "$RUN/good.yaml") != *check_user* ]] ||
	fail "a warning of the user that there is"
refused 78 "fairlead.yaml:3:1: $says" "useradd --system" -- \
	"$O/fairleadd" --check --config "$RUN/fairlead.yaml"
refused 78 "fairlead.yaml:3:1: $says" -- on fe "$O/fairleadd" --instance "$ID" \
	--config "$RUN/fairlead.yaml" --foreground

cp "$RUN/good.yaml" "$RUN/fairlead.yaml"
start_fairleadd
all_up
with_user no-such-user
refused 1 "$says" -- fl apply "$RUN/fairlead.yaml"
refused 1 "$says" -- fl apply --dry-run "$RUN/fairlead.yaml"
kill -HUP "$(cat "$RUN/fairleadd.pid")"
wait_until 10 grep -q "reload failed, nothing is changed: .*$says" "$RUN/fairleadd.log" ||
	fail "the reload is not refused"
all_up

# Another name of root.
cp /etc/passwd "$RUN/passwd"
echo "toor:x:0:0::/:/bin/false" >> "$RUN/passwd"
mount --bind "$RUN/passwd" /etc/passwd
with_user toor
refused 1 "check_user 'toor' is root on this host" -- fl apply "$RUN/fairlead.yaml"

# Nobody runs as a user that nobody needs.
with_user no-such-user
sed -i '/check: {/d' "$RUN/fairlead.yaml"
[[ $("$O/fairlead" check "$RUN/fairlead.yaml") != *check_user* ]] || fail "a warning without a check"
fl apply "$RUN/fairlead.yaml" > /dev/null || fail "refused without a check"
