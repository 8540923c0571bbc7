# SPDX-License-Identifier: GPL-2.0-only
# make bench-e2e: packets a second through the daemon's program between veths.

$(O)/tests/bench-e2e/e2e.o: $(O)/tests/bench-e2e/e2e.skel.h

$(O)/tests/bench-e2e/e2e: $(O)/tests/bench-e2e/e2e.o $(O)/tests/lib/netns.o $(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

.PHONY: bench-e2e
bench-e2e: all $(O)/tests/bench-e2e/e2e
	$(Q)tests/bench-e2e/run $(O)/bench-e2e.json
