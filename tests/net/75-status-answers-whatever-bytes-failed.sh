#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Names of files may be any bytes, JSON is UTF-8: neither such a name in the last
# error nor one of the configuration takes the status away.
. "$(dirname "$0")/lib.sh"

scripts/topology up "$ID"
write_config 4 ipip $VIP4:80/tcp

# Cut to the length of a sentence, at every place within two-byte characters.
start_fairleadd
for pad in '' x; do
	name=$pad$(printf '\xc3\xa9%.0s' {1..400})
	answer=$(on fe socat -t 5 - "UNIX-CONNECT:/run/fairlead/$ID/fairlead.sock" <<- END
		{"verb": "apply", "args": {"file": "$name", "yaml": "colour: red"}}
		{"verb": "show.status"}
	END
	)
	has "$(sed -n 2p <<< "$answer")" '"ok":false'
	has "$(sed -n 3p <<< "$answer")" '"changes_failed":'
done
stop fairleadd

odd=$RUN/$(printf 'odd-\xff.yaml')
mv "$RUN/fairlead.yaml" "$odd"
start fairleadd fe "$O/fairleadd" --foreground --config "$odd" --instance "$ID"
wait_until 20 fairleadd_settled || fail "no status: $(fl show status 2>&1)"
has "$(fl --json show status)" 'odd-?.yaml'
