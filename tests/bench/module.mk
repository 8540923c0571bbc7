# SPDX-License-Identifier: GPL-2.0-only
# make bench: ns a packet. OTHER=/pinned/program, VIP4=, VIP6=, CASE=begin-of-name,
# BENCH=quick.

BENCH_OBJS := $(patsubst %.c,$(O)/%.o,$(filter-out %.bpf.c,$(wildcard tests/bench/*.c))) \
	$(O)/tests/lib/netns.o

$(O)/tests/bench/harness.o: $(O)/tests/bench/bench.skel.h

$(O)/tests/bench/bench: $(BENCH_OBJS) $(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -lm -o $@

bench: $(O)/tests/bench/bench
	$(Q)$< --json $(O)/bench.json $(if $(filter quick,$(BENCH)),--quick) \
		$(if $(OTHER),--other '$(OTHER)') $(if $(VIP4),--vip4 '$(VIP4)') \
		$(if $(VIP6),--vip6 '$(VIP6)') $(if $(CASE),--only '$(CASE)')
