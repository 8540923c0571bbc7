# SPDX-License-Identifier: GPL-2.0-only
# Unit tests that check against the tests' own library.

$(O)/tests/unit/test_packet: $(O)/tests/lib/frame.o $(O)/tests/lib/frame_print.o \
	$(O)/tests/lib/checksum.o
$(O)/tests/unit/test_flow_hash: $(O)/tests/lib/siphash.o
