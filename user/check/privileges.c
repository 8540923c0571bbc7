// SPDX-License-Identifier: GPL-2.0-only
#include "privileges.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cap-ng.h>

#include "core/cleanup.h"
#include "core/quote.h"

/* Only what this process has at all: in a container it may lack even that. */
static void keep(bool raw, bool admin)
{
	capng_clear(CAPNG_SELECT_ALL);
	if (raw)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_RAW);
	if (admin)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_ADMIN);
}

static bool may_mark(void)
{
	_cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int mark = 1;

	return fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) == 0;
}

/* With CAP_NET_RAW alone, and if that does not do to mark packets, with both. */
static int settle(bool raw, bool admin, struct err *err)
{
	capng_clear(CAPNG_SELECT_ALL);
	if (raw)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_RAW);
	if (admin)
		capng_update(CAPNG_ADD, CAPNG_PERMITTED, CAP_NET_ADMIN);
	if (capng_apply(CAPNG_SELECT_CAPS))
		return err_set(err, -EPERM, "cannot give capabilities up");
	keep(raw, admin && !may_mark());
	if (capng_apply(CAPNG_SELECT_CAPS))
		return err_set(err, -EPERM, "cannot give capabilities up");
	return 0;
}

static int become(const char *name, bool raw, bool admin, struct err *err)
{
	const struct passwd *user;
	int rc;

	errno = 0;
	user = getpwnam(name);
	if (!user)
		return err_set(err, -EINVAL, "there is no user %s%s%s", QUOTE(name),
			       errno ? ": " : "", errno ? strerror(errno) : "");
	if (user->pw_uid == 0)
		return err_set(err, -EINVAL,
			       "user %s is root; checks run as a user without privileges",
			       QUOTE(name));
	keep(raw, admin);
	rc = capng_change_id(user->pw_uid, user->pw_gid,
			     CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING);
	if (rc)
		return err_set(err, -EPERM, "cannot become user %s (libcap-ng says %d)",
			       QUOTE(name), rc);
	return 0;
}

int privileges_drop(const char *user, struct err *err)
{
	bool raw, admin;
	int rc = 0;

	if (capng_get_caps_process())
		return err_set(err, -EPERM, "cannot read what this process may do");
	raw = capng_have_capability(CAPNG_PERMITTED, CAP_NET_RAW);
	admin = capng_have_capability(CAPNG_PERMITTED, CAP_NET_ADMIN);
	if (geteuid() == 0)
		rc = become(user, raw, admin, err);
	if (!rc)
		rc = settle(raw, admin, err);
	if (!rc && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		rc = err_set(err, -errno, "cannot give privileges up: %s", strerror(errno));
	return rc;
}
