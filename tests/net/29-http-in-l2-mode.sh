#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# HTTP to backends on the same segment without a tunnel, IPv4 and IPv6, whatever
# the family of the backends' addresses: all is answered, every backend has its
# share, and long streams of full-size segments arrive whole. Backends unpack
# nothing.
. "$(dirname "$0")/lib.sh"

export BACKEND_SETUP=--no-decap
balanced 4 l2 $VIP4 $VIP6
for address in $VIP4 $VIP6; do
	check_http_spread $address
	check_http_download $address
done
check_upload $VIP4
for host in b1 b2 b3; do
	equal "decap program on $host" none "$(decap_counter $host decap)"
done

write_config 6 l2 "$VIP4:80/tcp" "[$VIP6]:80/tcp"
fl apply "$RUN/fairlead.yaml" > "$RUN/apply.out"
for address in $VIP4 $VIP6; do
	check_http_spread $address
done
