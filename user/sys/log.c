// SPDX-License-Identifier: GPL-2.0-only
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include <bpf/libbpf.h>
#include <xdp/libxdp.h>

static const struct {
	int priority; /* syslog(3) */
	const char *word;
} levels[] = {
	[LOG_LEVEL_ERROR] = { LOG_ERR, "error" },
	[LOG_LEVEL_WARN] = { LOG_WARNING, "warning" },
	[LOG_LEVEL_NOTICE] = { LOG_NOTICE, "notice" },
	[LOG_LEVEL_INFO] = { LOG_INFO, "info" },
	[LOG_LEVEL_DEBUG] = { LOG_DEBUG, "debug" },
};

/* A log is one for a process by nature. */
static struct {
	const char *program;
	enum log_level level;
	enum { TO_TERMINAL, TO_JOURNAL, TO_SYSLOG } to;
} log_state = { "fairlead", LOG_LEVEL_NOTICE, TO_TERMINAL };

static void log_line(enum log_level level, const char *text)
{
	switch (log_state.to) {
	case TO_SYSLOG:
		syslog(levels[level].priority, "%s", text);
		break;
	case TO_JOURNAL:
		fprintf(stderr, "<%d>%s\n", levels[level].priority, text);
		break;
	case TO_TERMINAL:
		fprintf(stderr, "%s: %s: %s\n", log_state.program,
			levels[level].word, text);
		break;
	}
}

static void log_vwrite(enum log_level level, const char *format, va_list args)
{
	char text[2048];
	int length;

	if (level > log_state.level)
		return;

	length = vsnprintf(text, sizeof(text), format, args);
	if (length < 0)
		return;
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	while (length > 0 && text[length - 1] == '\n')
		text[--length] = '\0';
	log_line(level, text);
}

void log_write(enum log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_vwrite(level, format, args);
	va_end(args);
}

static int log_libbpf(enum libbpf_print_level level, const char *format,
		      va_list args)
{
	log_vwrite(level == LIBBPF_DEBUG ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO,
		   format, args);
	return 0;
}

static int log_libxdp(enum libxdp_print_level level, const char *format,
		      va_list args)
{
	log_vwrite(level == LIBXDP_DEBUG ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO,
		   format, args);
	return 0;
}

void log_open(const char *program, enum log_level level)
{
	log_state.program = program;
	log_state.level = level;
	/* systemd sets it when stderr is connected to the journal. */
	log_state.to = getenv("JOURNAL_STREAM") ? TO_JOURNAL : TO_TERMINAL;
	libbpf_set_print(log_libbpf);
	libxdp_set_print(log_libxdp);
}

void log_to_syslog(void)
{
	openlog(log_state.program, LOG_PID, LOG_DAEMON);
	log_state.to = TO_SYSLOG;
}
