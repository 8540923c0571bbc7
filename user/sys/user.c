// SPDX-License-Identifier: GPL-2.0-only
#include "user.h"

#include <errno.h>
#include <pwd.h>

#include "core/quote.h"

int user_check(const char *name, struct err *err)
{
	const struct passwd *user;

	errno = 0;
	user = getpwnam(name);
	if (user && user->pw_uid == 0)
		return err_set(err, -EINVAL,
			       "check_user %s is root on this host; required: a user "
			       "without privileges",
			       QUOTE(name));
	/* Some databases say ENOENT or ESRCH where others say nothing. */
	if (user || (errno && errno != ENOENT && errno != ESRCH))
		return 0;
	return err_set(err, -EINVAL,
		       "check_user %s is no user of this host, and checks run as that user; "
		       "required: one that there is, as 'useradd --system %s' makes it",
		       QUOTE(name), name);
}
