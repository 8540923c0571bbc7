// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lookups that the verifier could not turn into the code or the function of their
 * map's type: where more than one map can reach a call, it stays a call that asks the
 * map for its type, some 10 ns slower (flow_lru.bpf.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "world.h"

#define SKIPPED 77

/* 0: the kernel does not say. */
static unsigned long kernel_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long address, found = 0;
	char line[256], symbol[128];

	while (file && !found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %127s", &address, symbol) == 2 &&
		    !strcmp(symbol, name))
			found = address;
	if (file)
		fclose(file);
	return found;
}

/* Calls of kernel functions lie so far from this one. */
static int32_t offset_of(const char *name)
{
	return kernel_symbol(name) - kernel_symbol("__bpf_call_base");
}

/* After the verifier; the caller frees it. */
static struct bpf_insn *translated(const struct world *world, size_t *n)
{
	int fd = bpf_program__fd(world->skel->progs.fairlead);
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info), length;
	struct bpf_insn *insns;

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	length = info.xlated_prog_len;
	insns = calloc(1, length);
	assert_non_null(insns);
	memset(&info, 0, sizeof(info));
	info.xlated_prog_insns = (uintptr_t)insns;
	info.xlated_prog_len = length;
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	*n = length / sizeof(*insns);
	return insns;
}

static size_t count_calls(const struct world *world, int32_t offset)
{
	size_t n, i, calls = 0;
	struct bpf_insn *insns = translated(world, &n);

	for (i = 0; i < n; i++)
		calls += insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg &&
			 insns[i].imm == offset;
	free(insns);
	return calls;
}

/* flow_lru_find: a lookup for each family. */
static void every_lookup_is_of_one_map(void **state)
{
	static struct world world;
	size_t unknown, adjust;

	(void)state;
	for (int form = 0; form < FLOW_FORM__MAX; form++) {
		assert_int_equal(world_open_sized(&world, form, WORLD_FLOWS), 0);
		unknown = count_calls(&world, offset_of("bpf_map_lookup_elem"));
		adjust = count_calls(&world, offset_of("bpf_xdp_adjust_head"));
		world_close(&world);
		assert_int_equal(unknown, 0);
		assert_true(adjust > 0); /* else no call is what it seems */
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_lookup_is_of_one_map),
	};

	if (!kernel_symbol("bpf_map_lookup_elem") || !kernel_symbol("__bpf_call_base")) {
		puts("skipped: /proc/kallsyms does not tell addresses");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
