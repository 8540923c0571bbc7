# SPDX-License-Identifier: GPL-2.0-only
# Tables: build times beside the textbook builder, and what changes move.
# Compiled apart with -O2 whatever CFLAGS say, so figures compare.

BENCH_TABLES_SRC := $(wildcard tests/bench-tables/*.c) $(wildcard user/core/table*.c) \
	user/core/primes.c user/core/err.c
BENCH_TABLES_DEPS := $(wildcard tests/bench-tables/*.h user/core/*.h include/*.h) \
	tests/unit/table_textbook.h

$(O)/tests/bench-tables/bench_tables: $(BENCH_TABLES_SRC) $(BENCH_TABLES_DEPS)
	$(say) LINK $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 $(WARN) -O2 -g -D_GNU_SOURCE -I. -Iinclude -Iuser \
		$(shell $(PKG_CONFIG) --cflags jansson) $(BENCH_TABLES_SRC) \
		$(shell $(PKG_CONFIG) --libs jansson) -o $@

.PHONY: bench-tables
bench-tables: $(O)/tests/bench-tables/bench_tables
	$(Q)$< $(O)/bench-tables.json
