# SPDX-License-Identifier: GPL-2.0-only
# make bench-e2e: packets a second through the daemon's program between veths.
# make bench-dumps: what is lost of them while flows are counted and listed.

BENCH_E2E := $(addprefix $(O)/tests/bench-e2e/,e2e steady)

$(BENCH_E2E:=.o): $(O)/tests/bench-e2e/e2e.skel.h

$(BENCH_E2E): $(O)/%: $(O)/%.o $(O)/tests/bench-e2e/ends.o $(O)/tests/lib/netns.o \
		$(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

.PHONY: bench-e2e bench-dumps
bench-e2e: all $(BENCH_E2E)
	$(Q)tests/bench-e2e/run $(O)/bench-e2e.json
bench-dumps: all $(BENCH_E2E)
	$(Q)tests/bench-e2e/run-dumps
