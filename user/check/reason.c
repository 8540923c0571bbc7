// SPDX-License-Identifier: GPL-2.0-only
#include "reason.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *reason_of_errno(int code)
{
	static char text[64];

	switch (code) {
	case EHOSTUNREACH:
		return "no route to host";
	case ENETUNREACH:
		return "network is unreachable";
	case ECONNRESET:
		return "connection reset";
	case EADDRNOTAVAIL:
		return "no local address or port is free";
	}
	snprintf(text, sizeof(text), "%s", strerror(code));
	/* "No such file", but "RPC ..." stays. */
	if (text[0] && !isupper((unsigned char)text[1]))
		text[0] = tolower((unsigned char)text[0]);
	return text;
}
