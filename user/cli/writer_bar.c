// SPDX-License-Identifier: GPL-2.0-only
/* Bars of plain characters: "####|##" is beyond its mark, "####  |" short. */
#include <stdlib.h>
#include <string.h>

#include "writer_private.h"

static size_t scale(double value, double full, size_t width)
{
	double cells = 0.5;

	if (full > 0 && value > 0)
		cells += value / full * (double)width;
	return cells < (double)width ? (size_t)cells : width;
}

char *bar_draw(const struct writer_bar *bar, size_t width)
{
	size_t filled = scale(bar->value, bar->full, width);
	size_t mark = scale(bar->mark, bar->full, width);
	size_t length = mark > filled ? mark : filled;
	char *text = malloc(length + 1);

	if (!text)
		return NULL;

	memset(text, ' ', length);
	memset(text, bar->fill, filled);
	if (mark > 0)
		text[mark - 1] = '|';
	text[length] = '\0';
	return text;
}
