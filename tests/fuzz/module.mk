# SPDX-License-Identifier: GPL-2.0-only
# Fuzzers: make fuzz-cfg [FUZZ_SECONDS=N], fuzz-ctl, fuzz-fixture, fuzz-tables. They
# need clang's libFuzzer and are built from source; what they find is left in
# $(O)/tests/fuzz/. The unit tests run them without it over their corpus.

FUZZ_SECONDS ?= 30
FUZZERS := cfg ctl fixture tables
FUZZ_CORPUS_cfg := tests/fuzz/corpus_cfg
FUZZ_CORPUS_ctl := tests/fuzz/corpus_ctl
FUZZ_CORPUS_fixture := examples/cases
FUZZ_CORPUS_tables := tests/fuzz/corpus_tables
# Beside the core; what else these need the fuzzer itself stands in for.
FUZZ_MORE_ctl := $(addprefix user/daemon/,ctl_request.c ctl_room.c events.c flow_query.c show.c \
	show_backends.c verbs.c)
FUZZ_CFLAGS := -std=gnu11 -g -O1 -D_GNU_SOURCE -DFAIRLEAD_VERSION='"$(VERSION)"' -I. -Iinclude -Iuser \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

define fuzzer_rules
$(O)/tests/fuzz/fuzz_$(1): tests/fuzz/fuzz_$(1).c $(wildcard user/core/*.c) $(FUZZ_MORE_$(1)) \
		$(wildcard user/*/*.h user/daemon/ctl.c include/*.h)
	$$(say) FUZZ $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CLANG) $$(FUZZ_CFLAGS) $$(filter %.c,$$(filter-out user/daemon/ctl.c,$$^)) \
		-lyaml -ljansson -lm -o $$@

.PHONY: fuzz-$(1)
fuzz-$(1): $(O)/tests/fuzz/fuzz_$(1)
	$$(Q)mkdir -p $(O)/tests/fuzz/corpus_$(1)
	$$(Q)$$< -max_total_time=$$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -max_len=4096 \
		-print_final_stats=1 $(addprefix -dict=,$(wildcard tests/fuzz/$(1).dict)) \
		-artifact_prefix=$(O)/tests/fuzz/$(1)- $(O)/tests/fuzz/corpus_$(1) $(FUZZ_CORPUS_$(1))

$(O)/tests/fuzz/replay_$(1).o: tests/fuzz/replay.c
	$$(say) CC $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) -DFUZZ_CORPUS='"$(FUZZ_CORPUS_$(1))"' -MMD -MP -c $$< -o $$@

$(O)/tests/unit/test_fuzz_$(1): $(O)/tests/fuzz/replay_$(1).o $(O)/tests/fuzz/fuzz_$(1).o \
		$(CORE) $(FUZZ_MORE_$(1):%.c=$(O)/%.o)
	$$(say) LINK $$@
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) $$^ $$(LDLIBS) -lcmocka -lm -o $$@
endef
$(foreach fuzzer,$(FUZZERS),$(eval $(call fuzzer_rules,$(fuzzer))))

UNIT += $(FUZZERS:%=$(O)/tests/unit/test_fuzz_%)
