/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_LOG_H
#define FAIRLEAD_LOG_H

/*
 * The daemon's log: one line a message, to stderr with syslog-style priority
 * prefixes under systemd, plain on a terminal, or to syslog when the daemon is
 * in the background. Text that came from outside is quoted by the caller.
 * libbpf's and libxdp's own output arrives here one level lower.
 */

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_NOTICE, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Name in front of plain lines; messages above `level` are left out. */
void log_open(const char *program, enum log_level level);
/* From here on to syslog: the terminal is about to be let go. */
void log_to_syslog(void);

void log_write(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...) log_write(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_notice(...) log_write(LOG_LEVEL_NOTICE, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_write(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
