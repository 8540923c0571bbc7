// SPDX-License-Identifier: GPL-2.0-only
#include "draws.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "tests/bench/packets.h"
#include "tests/lib/random.h"
#include "user/core/cleanup.h"

#define ZIPF_EXPONENT 1.1
#define SCATTER 0x9e3779b1U /* odd: a permutation of the numbers */

static size_t bytes(uint32_t n)
{
	return n * sizeof(uint32_t);
}

int draws_open(struct draws *draws, uint32_t n, struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "draws",
						sizeof(uint32_t),
						sizeof(struct bench_draws),
						n / BENCH_DRAWS_A_LINE, &options);
	void *lines;

	if (fd < 0)
		return err_set(err, -errno, "cannot make the map of draws: %s",
			       strerror(errno));
	lines = mmap(NULL, bytes(n), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lines == MAP_FAILED)
		return err_set(err, -errno, "cannot map the draws into memory: %s",
			       strerror(errno));
	*draws = (struct draws){ .fd = TAKE_FD(fd), .lines = lines, .n = n };
	return 0;
}

void draws_close(struct draws *draws)
{
	if (draws->lines)
		munmap(draws->lines, bytes(draws->n));
	cleanup_close(&draws->fd);
	*draws = (struct draws)DRAWS_NONE;
}

static void set(struct draws *draws, uint32_t i, uint32_t flow)
{
	draws->lines[i / BENCH_DRAWS_A_LINE].flow[i % BENCH_DRAWS_A_LINE] = flow;
}

void draws_in_turn(struct draws *draws, uint32_t flows, uint32_t times)
{
	for (uint32_t i = 0; i < draws->n; i++)
		set(draws, i, i / times % flows);
}

void draws_evenly(struct draws *draws, uint32_t flows)
{
	struct random random = { flows };

	for (uint32_t i = 0; i < draws->n; i++)
		set(draws, i, random_below(&random, flows));
}

/* sum[r]: how likely a rank up to r is, times a constant. */
static double fill_sums(double *sum, uint32_t flows)
{
	double total = 0;

	for (uint32_t rank = 0; rank < flows; rank++) {
		total += pow(rank + 1, -ZIPF_EXPONENT);
		sum[rank] = total;
	}
	return total;
}

/* The first rank whose sum is above x. */
static uint32_t find_rank(const double *sum, uint32_t flows, double x)
{
	uint32_t low = 0, high = flows - 1, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (sum[middle] > x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int draws_zipf(struct draws *draws, uint32_t flows, struct err *err)
{
	_cleanup_free_ double *sum = calloc(flows, sizeof(*sum));
	struct random random = { flows };
	double total, x;

	if (!sum)
		return err_set(err, -ENOMEM, "no memory for a law of Zipf");
	total = fill_sums(sum, flows);
	for (uint32_t i = 0; i < draws->n; i++) {
		x = (double)(random_next(&random) >> 11) / (1ULL << 53) * total;
		set(draws, i, find_rank(sum, flows, x) * SCATTER & (flows - 1));
	}
	return 0;
}
