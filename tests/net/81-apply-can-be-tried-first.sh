#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# apply --dry-run says what would move, and changes nothing; what the running
# daemon has is the table that the command computes from the file.
. "$(dirname "$0")/lib.sh"

digest() {
	fl --json vip show "$VIP4:80/tcp" | grep -o '"digest":"[0-9a-f]*"'
}

writes() {
	fl --json show status | grep -o '"map_writes":[0-9]*'
}

# field KEY: of the VIP in the preview that was taken.
field() {
	grep -o "\"address\":\"$VIP4:80/tcp\"[^}]*" <<< "$preview" |
		grep -o "\"$1\":[^,]*" | cut -d: -f2
}

balanced 4 ipip $VIP4
http_spread $VIP4 60 > /dev/null

# The same digests and slots from the file as from the maps.
of_file=$(fl --json table show "$RUN/fairlead.yaml" | grep -o '"digest":"[0-9a-f]*"')
equal "digest" "$(digest)" "$of_file"
has "$(fl table compare - "$RUN/fairlead.yaml")" "0"

before=$(digest) written=$(writes)
sed -e '/10\.1\.0\.13/d' -e "s|\"$VIP4:81/tcp\"|\"203.0.113.99:81/tcp\"|" \
	"$RUN/fairlead.yaml" > "$RUN/next.yaml"
preview=$(fl --json apply --dry-run "$RUN/next.yaml")
equal "digest after a dry run" "$before" "$(digest)"
equal "map writes of a dry run" "$written" "$(writes)"
has "$preview" '"address":"203.0.113.99:81/tcp","change":"added"'
has "$preview" "\"address\":\"$VIP4:81/tcp\",\"change\":\"removed\""
equal "change" '"changed"' "$(field change)"
[ "$(field moved)" -gt 21845 ] || fail "only $(field moved) slots would move"
[ "$(field flows)" -ge 60 ] || fail "only $(field flows) flows are known"
[ "$(field flows_on_moved)" -gt 0 ] || fail "no flow lies on slots that move"
[ "$(field flows_on_moved)" -lt "$(field flows)" ] || fail "all flows lie on them"

# An unchanged file moves nothing.
preview=$(fl --json apply --dry-run "$RUN/fairlead.yaml")
equal "change" '"unchanged"' "$(field change)"
equal "moved" 0 "$(field moved)"

# And the real thing moves what was said.
moved=$(fl --json apply --dry-run "$RUN/next.yaml" | grep -o '"moved":[0-9]*' | sort -u | tail -n 1)
fl apply "$RUN/next.yaml" > /dev/null
[ "$(digest)" != "$before" ] || fail "the table did not change"
[ "${moved#*:}" -gt 0 ] || fail "nothing moved"
