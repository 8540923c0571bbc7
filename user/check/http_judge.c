// SPDX-License-Identifier: GPL-2.0-only
/* What an answer is worth: its status, its body, and what the backend says of itself. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checker.h"
#include "core/cleanup.h"
#include "core/num.h"
#include "core/quote.h"
#include "http.h"
#include "task.h"

static bool body_has(const struct http_run *run, const char *text)
{
	return memmem(run->body, run->body_bytes, text, strlen(text)) != NULL;
}

int http_agent_parse(const char *text, struct probe_result *result)
{
	static const char *const states[] = { [AGENT_UP] = "up", [AGENT_DRAIN] = "drain",
					      [AGENT_DOWN] = "down" };
	char digits[4];
	uint16_t weight;
	size_t n = strlen(text);

	for (int i = AGENT_UP; i < AGENT__MAX; i++) {
		if (!strcasecmp(text, states[i])) {
			result->agent = i;
			return 0;
		}
	}
	if (n && text[n - 1] == '%')
		n--;
	if (n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, n);
	digits[n] = '\0';
	if (parse_u16(digits, "weight", 0, 100, &weight, NULL))
		return -EINVAL;
	result->weight = weight;
	return 0;
}

/* The value that "a.b.c" leads to; borrowed. */
static json_t *json_at(json_t *object, const char *path)
{
	while (object && *path) {
		size_t n = strcspn(path, ".");

		object = json_object_getn(object, path, n);
		path += n;
		if (*path)
			path++;
	}
	return object;
}

/*
 * A string, or a number without its fraction; anything else as it stands there, to be
 * quoted. -ENOENT: not said.
 */
static int agent_of_json(const struct http_run *run, char *out, size_t size)
{
	json_t *root = json_loadb(run->body, run->body_bytes, 0, NULL);
	json_t *value = json_at(root, run->task->probe.check.weight_json);
	_cleanup_free_ char *other = NULL;

	if (json_is_string(value))
		snprintf(out, size, "%s", json_string_value(value));
	else if (json_is_number(value))
		snprintf(out, size, "%.0f", json_number_value(value));
	else if (value && !json_is_null(value))
		other = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	else
		out = NULL;
	if (other)
		snprintf(out, size, "%s", other);
	json_decref(root);
	return out ? 0 : -ENOENT;
}

/* In the header, else in the body. What makes no sense changes nothing, and is said. */
static void judge_agent(const struct http_run *run, struct probe_result *result)
{
	const struct check *check = &run->task->probe.check;
	char text[HTTP_AGENT_MAX];
	int rc = -ENOENT;

	if (!check->weight_header && !check->weight_json)
		return;
	if (run->agent_said) {
		memcpy(text, run->agent, sizeof(text));
		rc = 0;
	} else if (check->weight_json) {
		rc = agent_of_json(run, text, sizeof(text));
	}
	if (!rc && !http_agent_parse(text, result))
		return;
	result->agent_unclear = !rc;
	snprintf(result->reason, sizeof(result->reason),
		 rc ? "no weight or state in the answer" :
		      "weight or state %s makes no sense; allowed: 0 to 100, up, drain, down",
		 rc ? "" : QUOTE(text));
}

void http_judge(const struct http_run *run, struct probe_result *result)
{
	const struct check *check = &run->task->probe.check;
	long status = 0;

	curl_easy_getinfo(run->easy, CURLINFO_RESPONSE_CODE, &status);
	snprintf(result->reason, sizeof(result->reason), "HTTP status %ld", status);
	if (status < check->status_min || status > check->status_max) {
		snprintf(result->reason, sizeof(result->reason),
			 check->status_min == check->status_max ?
				 "HTTP status %ld, %u wanted" :
				 "HTTP status %ld, %u-%u wanted",
			 status, check->status_min, check->status_max);
		return;
	}
	if (check->body && !body_has(run, check->body)) {
		snprintf(result->reason, sizeof(result->reason),
			 "HTTP status %ld, but the body lacks %s%s", status,
			 QUOTE(check->body), run->enough ? " in its first 64 KiB" : "");
		return;
	}
	result->ok = true;
	judge_agent(run, result);
}
