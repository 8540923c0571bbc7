# SPDX-License-Identifier: GPL-2.0-only
# The balancer's program under BPF_PROG_RUN: one binary for each test_*.c.

TEST_LIB := $(patsubst %.c,$(O)/%.o,$(wildcard tests/lib/*.c))
BPF_TEST_OBJS := $(patsubst %.c,$(O)/%.o,$(wildcard tests/bpf/scenarios_*.c)) \
	$(patsubst %.c,$(O)/%.o,$(wildcard tests/bpf/world*.c)) $(TEST_LIB)
BPF_TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/bpf/test_*.c))
ROOT_TESTS += $(BPF_TESTS)

# The library: maps are filled as the daemon does it.
$(BPF_TESTS): $(O)/tests/bpf/%: $(O)/tests/bpf/%.o $(BPF_TEST_OBJS) $(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -lcmocka -o $@

$(O)/tests/bpf/test_flood.o: $(O)/tests/bpf/flood.skel.h

# It runs the bench.
$(O)/tests/bpf/test_bench: | $(O)/tests/bench/bench
# It runs the command.
$(O)/tests/bpf/test_fixtures: | $(O)/fairlead

