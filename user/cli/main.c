// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>

#include "cli.h"

int main(int argc, char **argv)
{
	/* A reader that went away is seen as EPIPE by who writes. */
	signal(SIGPIPE, SIG_IGN);
	return cli_main(argc, argv, stdout, stderr);
}
