#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Checks of https read the file of their authorities once for all of them, the system's
# and others alike: to read it for each connection takes longer than all the rest.
. "$(dirname "$0")/lib.sh"
. tests/net/checks-lib.sh

# Where libcurl has them depends on how it was built.
system=/etc/ssl/certs/ca-certificates.crt
[ -s "$system" ] || skip "needs the authorities of the system in $system"
cat "$system" > "$RUN/one.pem"
cat "$system" > "$RUN/two.pem"
bundle=$(stat -c %s "$RUN/one.pem")

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$RUN/www.key" -out "$RUN/www.pem" \
	-subj /CN=www.example.com -days 30 > "$RUN/openssl.out" 2>&1
serve tls openssl s_server -accept 4431 -cert "$RUN/www.pem" -key "$RUN/www.key" -www -quiet
wait_until 10 listens 4431 || fail "openssl does not listen"

results() { grep -c "\"id\":$1,.*TLS: self-signed certificate" "$RUN/many.log"; }
all_have_results() {
	local id

	for id in 1 2 3; do
		[ "$(results $id)" -ge 20 ] || return 1
	done
}

# In turn, so that none can rely on what the one before has left.
verify='"tls_verify":true,"host":"www.example.com"'
{
	probe 1 https 127.0.0.1 4431 "$verify"
	probe 2 https 127.0.0.1 4431 "$verify,\"ca_file\":\"$RUN/one.pem\""
	probe 3 https 127.0.0.1 4431 "$verify,\"ca_file\":\"$RUN/two.pem\""
} > "$RUN/probes"
start_checks "$RUN/probes"
wait_until 50 all_have_results || fail "too few results: $(tail -n 3 "$RUN/many.log")"
bytes=$(awk '$1 == "rchar:" { print $2 }' "/proc/$(pgrep -xo fairlead-check)/io")
# Each file once, or twice when the minute is over for which they are kept.
[ "$bytes" -lt $((8 * bundle)) ] ||
	fail "$bytes bytes were read in $(wc -l < "$RUN/many.log") runs; a file has $bundle"
stop many
