# SPDX-License-Identifier: GPL-2.0-only
# Tools of the tests in namespaces, which scripts/run-tests runs.

NET_TOOLS := $(addprefix $(O)/tests/net/,load outers streams checks hostile marked sitters)
ROOT_TESTS += $(NET_TOOLS) $(O)/tests/net/probes

$(NET_TOOLS): $(O)/%: $(O)/%.o
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ -o $@

$(O)/tests/net/probes: $(O)/tests/net/probes.o $(O)/libfairlead.a
	$(say) LINK $@
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $^ $(LDLIBS) -o $@

# For LD_PRELOAD.
NET_PRELOADS := $(addprefix $(O)/tests/net/,failing_self_test.so failing_marks.so \
	failing_watches.so late_link_update.so)
ROOT_TESTS += $(NET_PRELOADS)

$(NET_PRELOADS): $(O)/%.so: %.c
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -fPIE,$(ALL_CFLAGS)) -fPIC -shared $< -o $@ -ldl
