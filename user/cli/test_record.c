// SPDX-License-Identifier: GPL-2.0-only
/* The other way round: from packets to the case that holds for them now. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <jansson.h>
#include <linux/bpf.h>

#include "core/cleanup.h"
#include "core/quote.h"
#include "sys/pcap_file.h"
#include "test.h"

/* In double quotes, which a file name may need. */
static void print_quoted(FILE *file, const char *text)
{
	fputc('"', file);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			fprintf(file, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, file);
	}
	fputc('"', file);
}

static void print_outer(FILE *file, const struct packet *out)
{
	static const char *const keys[] = { "src", "dst", "protocol", "ttl", "tos",
					    "dport", "vlan" };
	char text[PACKET_FIELD_MAX];
	int n = 0;

	fputs("        outer: {", file);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!packet_field(out, keys[i], text))
			fprintf(file, "%s %s: \"%s\"", n++ ? "," : "", keys[i], text);
	fputs(" }\n", file);
}

/* An answer of the balancer itself: all of it. */
static void print_out(FILE *file, const struct packet *out)
{
	fputs("        out:\n          hex: >-", file);
	for (size_t i = 0; i < out->size; i++)
		fprintf(file, "%s%02x", i % 32 ? "" : "\n            ", out->data[i]);
	fputc('\n', file);
}

static void print_result(FILE *file, const struct trial *t,
			 const struct trial_result *result)
{
	const char *backend = test_backend_name(t, &result->out);
	char verdict[TEST_VALUE_MAX];

	fprintf(file, "        verdict: %s\n",
		test_verdict_text(result->verdict, 0, verdict));
	if (result->verdict == XDP_DROP && fixture_reason_name(result->reason))
		fprintf(file, "        reason: %s\n", fixture_reason_name(result->reason));
	if (result->verdict == XDP_PASS)
		fputs("        out: same\n", file);
	if (result->verdict != XDP_TX && result->verdict != XDP_REDIRECT)
		return;
	if (backend) {
		fprintf(file, "        backend: \"%s\"\n", backend);
		print_outer(file, &result->out);
	} else {
		print_out(file, &result->out);
	}
}

static int record_frame(FILE *file, struct trial *t, const char *pcap, uint32_t index,
			const struct packet *in, struct err *err)
{
	char summary[PACKET_SUMMARY_MAX];
	struct trial_result result;
	int rc = trial_run(t, in, &result, err);

	if (rc)
		return err_prefix(err, "frame %u of '%s'", index, pcap);
	fprintf(file, "      # %s\n      - in: { pcap: ", packet_summary(in, summary));
	print_quoted(file, pcap);
	fprintf(file, ", frame: %u }\n", index);
	print_result(file, t, &result);
	packet_clear(&result.out);
	return 0;
}

static int record_all(FILE *file, struct trial *t, const char *pcap, struct err *err)
{
	_cleanup_pcap_file_ struct pcap_file reader = { 0 };
	uint32_t index;
	int rc;

	for (index = 1;; index++) {
		_cleanup_packet_ struct packet in = { 0 };

		rc = pcap_file_read(&reader, pcap, index, &in, err);
		if (!rc)
			rc = record_frame(file, t, pcap, index, &in, err);
		if (rc)
			break;
	}
	if (rc != -ENOENT || index == 1)
		return rc;
	return 0;
}

/* Cuts UTF-8 text to a length, between two characters. */
static void cut_text(char *text, size_t length)
{
	if (strlen(text) <= length)
		return;
	while (length && (text[length] & 0xc0) == 0x80)
		length--;
	text[length] = '\0';
}

static void print_name(FILE *file, const char *pcap)
{
	const char *slash = strrchr(pcap, '/');
	char name[2 * NAME_MAX];

	snprintf(name, sizeof(name), "frames of %s", slash ? slash + 1 : pcap);
	cut_text(name, FIXTURE_NAME_MAX);
	for (char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '#')
			*c = '?';
	fputs("cases:\n  - name: ", file);
	print_quoted(file, name);
	fputs("\n    steps:\n", file);
}

/* The name stands in the cases. */
static int check_name(const char *pcap, struct err *err)
{
	json_t *text = json_string(pcap);

	json_decref(text);
	if (text)
		return 0;
	return err_set(err, -EINVAL,
		       "the name %s is not UTF-8 text, as a file of cases is", QUOTE(pcap));
}

/* Nothing is printed of a recording that fails half way. */
int test_record(struct cli *cli, struct trial *t, const char *pcap)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_fclose_ FILE *file = NULL;
	struct err err = {};
	size_t size;
	int rc = check_name(pcap, &err);

	if (!rc)
		rc = trial_reset(t, FIXTURE_MTU_DEFAULT, &err);
	file = open_memstream(&text, &size);
	if (!rc && !file)
		rc = err_set(&err, -ENOMEM, "out of memory");
	if (!rc) {
		print_name(file, pcap);
		rc = record_all(file, t, pcap, &err);
	}
	if (!rc && fclose(TAKE_PTR(file)))
		rc = err_set(&err, -ENOMEM, "out of memory");
	if (rc)
		return rc == -EACCES ? cli_fail_err(cli, &err) :
				       cli_fail(cli, EXIT_CONFIG, "invalid", "%s", err.text);

	cli->no_document = true;
	/* A reader that has gone away has read enough. */
	if ((fputs(text, cli->stdout_file) < 0 || fflush(cli->stdout_file)) &&
	    errno != EPIPE)
		return cli_fail(cli, EXIT_REFUSED, "failed", "cannot write the cases: %s",
				strerror(errno));
	return EXIT_OK;
}
