#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A run directory that somebody else may write to, or a link to another place, is
# refused by a start and by --teardown, which would delete what is there.
. "$(dirname "$0")/lib.sh"

dir=/run/fairlead/$ID

both_refuse() {
	refused 77 "'$dir'" "only root" -- timeout 20 "$O/fairleadd" --foreground \
		--config "$RUN/fairlead.yaml" --instance "$ID"
	refused 77 "'$dir'" "only root" -- "$O/fairleadd" --teardown --instance "$ID"
}

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp
mkdir -p /run/fairlead "$RUN/elsewhere"
touch "$RUN/elsewhere/keep"

ln -s "$RUN/elsewhere" "$dir"
both_refuse
equal "what the link leads to" keep "$(ls "$RUN/elsewhere")"
rm "$dir"

mkdir "$dir"
chmod 777 "$dir"
both_refuse
chmod 755 "$dir"
chown 65534 "$dir"
both_refuse
chown 0 "$dir"
start_fairleadd
