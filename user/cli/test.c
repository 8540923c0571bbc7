// SPDX-License-Identifier: GPL-2.0-only
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "config.h"
#include "core/cleanup.h"
#include "core/quote.h"
#include "file.h"
#include "sys/pcap_file.h"
#include "verbs.h"

struct test {
	struct cli *cli;
	const char *config, *record;
	bool tap;
	char **paths; /* in argv */
	int n_paths;
	struct fixture **fixtures;
	size_t n_fixtures;
};

/* "--name VALUE" and "--name=VALUE". 1: it is that option, *value is set. */
static int take_value(const char *name, int argc, char **argv, int *i,
		      const char **value, struct err *err)
{
	size_t length = strlen(name);

	if (strncmp(argv[*i], name, length) ||
	    (argv[*i][length] && argv[*i][length] != '='))
		return 0;
	if (*value)
		return err_set(err, -EINVAL, "option '%s' stands twice", name);
	if (argv[*i][length] == '=') {
		*value = argv[*i] + length + 1;
		return 1;
	}
	if (*i + 1 == argc)
		return err_set(err, -EINVAL, "option '%s' needs a value: %s FILE", name,
			       name);
	*value = argv[++*i];
	return 1;
}

static int take_word(struct test *t, int argc, char **argv, int *i, struct err *err)
{
	char *word = argv[*i];
	int rc = take_value("--config", argc, argv, i, &t->config, err);

	if (!rc)
		rc = take_value("--record", argc, argv, i, &t->record, err);
	if (rc)
		return rc < 0 ? rc : 0;
	if (!strcmp(word, "--tap"))
		t->tap = true;
	else if (word[0] == '-' && word[1])
		return err_set(err, -EINVAL,
			       "unknown option %s; allowed: --config, --record, --tap",
			       QUOTE(word));
	else
		t->paths[t->n_paths++] = word;
	return 0;
}

static int check_words(const struct test *t, struct err *err)
{
	if (!t->config)
		return err_set(err, -EINVAL, "'test' needs '--config FILE'");
	if (t->record && (t->n_paths || t->tap))
		return err_set(err, -EINVAL,
			       "'--record' writes cases and runs none: it goes together with '--config' only");
	if (!t->record && !t->n_paths)
		return err_set(err, -EINVAL, "'test': CASES is missing");
	if (t->tap && t->cli->options.form != WRITER_TEXT)
		return err_set(err, -EINVAL,
			       "'--tap' is a form of its own: it does not go together with --json, --pretty and --oneline");
	return 0;
}

/* Words that are no options stay in front of argv. */
static int parse_words(struct test *t, int argc, char **argv, struct err *err)
{
	int rc = 0;

	t->paths = argv;
	for (int i = 0; i < argc && !rc; i++)
		rc = take_word(t, argc, argv, &i, err);
	return rc ? rc : check_words(t, err);
}

/* Names of captures are relative to the file that has them. */
static int find_capture(const struct fixture *f, const char *name, char path[PATH_MAX],
			struct err *err)
{
	const char *slash = strrchr(f->file, '/');
	int n;

	if (name[0] == '/' || !slash)
		n = snprintf(path, PATH_MAX, "%s", name);
	else
		n = snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - f->file), f->file,
			     name);
	return n < PATH_MAX ? 0 : err_set(err, -ENAMETOOLONG, "the name is too long");
}

static int load_frame(const struct fixture *f, struct pcap_file *reader,
		      struct fixture_frame *frame, struct err *err)
{
	char path[PATH_MAX];
	int rc;

	if (frame->kind != FRAME_PCAP)
		return 0;
	rc = find_capture(f, frame->pcap, path, err);
	if (!rc)
		rc = pcap_file_read(reader, path, frame->index, &frame->bytes, err);
	if (rc) {
		fixture_place(f, frame->pos, err);
		return rc;
	}
	frame->kind = FRAME_BYTES;
	return 0;
}

static int load_frames(struct fixture *f, struct err *err)
{
	/* Packets in and out are mostly of two captures, each read in order. */
	_cleanup_pcap_file_ struct pcap_file in = { 0 }, out = { 0 };
	int rc = 0;

	for (size_t i = 0; i < f->n_cases; i++)
		for (size_t j = 0; j < f->cases[i].n_steps && !rc; j++) {
			struct fixture_step *step = &f->cases[i].steps[j];

			rc = load_frame(f, &in, &step->in, err);
			if (!rc)
				rc = load_frame(f, &out, &step->out, err);
		}
	return rc;
}

static int load_file(struct test *t, const char *path, const struct cfg *cfg,
		     struct err *err)
{
	_cleanup_free_ char *text = NULL;
	struct fixture **grown;
	size_t length;
	int rc = file_read(path, &text, &length, err);

	if (rc)
		return rc;
	grown = reallocarray(t->fixtures, t->n_fixtures + 1, sizeof(*grown));
	if (!grown)
		return err_set(err, -ENOMEM, "out of memory");
	t->fixtures = grown;
	rc = fixture_parse(text, length, config_file_name(path),
			   &t->fixtures[t->n_fixtures], err);
	if (rc)
		return rc;
	t->n_fixtures++;
	rc = fixture_check(grown[t->n_fixtures - 1], cfg, err);
	return rc ? rc : load_frames(grown[t->n_fixtures - 1], err);
}

static int is_yaml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot &&
	       (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

static int load_directory(struct test *t, const char *path, const struct cfg *cfg,
			  struct err *err)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_yaml, alphasort), rc = 0;

	if (n < 0)
		return err_set(err, -errno, "cannot read the directory '%s': %s", path,
			       strerror(errno));
	if (n == 0)
		rc = err_set(err, -ENOENT, "the directory '%s' has no .yaml file", path);
	for (int i = 0; i < n; i++) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (!rc)
			rc = load_file(t, file, cfg, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int load_cases(struct test *t, const struct cfg *cfg, struct err *err)
{
	struct stat st;
	int rc = 0;

	for (int i = 0; i < t->n_paths && !rc; i++) {
		if (!stat(t->paths[i], &st) && S_ISDIR(st.st_mode))
			rc = load_directory(t, t->paths[i], cfg, err);
		else
			rc = load_file(t, t->paths[i], cfg, err);
	}
	return rc;
}

/* A reader of TAP would wait for the rest. `invalid`: what the user gave is wrong. */
static int end_early(const struct test *t, bool invalid, const struct err *err)
{
	if (t->tap)
		fprintf(t->cli->stdout_file, "Bail out! %s\n", err->text);
	return invalid ? cli_fail(t->cli, EXIT_CONFIG, "invalid", "%s", err->text) :
			 cli_fail_err(t->cli, err);
}

static int run_cases(struct test *t, struct trial *trial)
{
	struct test_report report = { .cli = t->cli, .tap = t->tap };
	struct test_result result;
	struct err err = {};
	int rc;

	for (size_t i = 0; i < t->n_fixtures; i++)
		report.n_cases += t->fixtures[i]->n_cases;
	rc = test_report_open(&report, &err);
	for (size_t i = 0; i < t->n_fixtures; i++)
		for (size_t j = 0; j < t->fixtures[i]->n_cases && !rc; j++) {
			rc = test_case_run(trial, t->fixtures[i],
					   &t->fixtures[i]->cases[j], &result, &err);
			if (!rc)
				test_report_add(&report, &result);
		}
	if (!rc)
		return test_report_finish(&report);
	test_report_finish(&report);
	return end_early(t, true, &err);
}

/* What is wrong with the files is told before anything needs root. */
static int run(struct test *t)
{
	_cleanup_trial_ struct trial trial = TRIAL_NONE;
	_cleanup_cfg_ struct cfg *cfg = NULL;
	struct err err = {};
	int rc = config_load(t->config, &cfg, &err);

	if (t->tap)
		fputs("TAP version 13\n", t->cli->stdout_file);
	if (!rc)
		rc = load_cases(t, cfg, &err);
	if (rc)
		return end_early(t, rc != -EACCES, &err);
	if (trial_open(&trial, &cfg, &err))
		return end_early(t, false, &err);
	return t->record ? test_record(t->cli, &trial, t->record) :
			   run_cases(t, &trial);
}

int cmd_test(struct cli *cli, int argc, char **argv)
{
	struct test t = { .cli = cli };
	struct err err = {};
	int status;

	/* Our sentences say it; libbpf's lines would only stand between them. */
	libbpf_set_print(NULL);
	if (parse_words(&t, argc, argv, &err))
		return cli_fail_usage(cli, "%s", err.text);
	status = run(&t);
	while (t.n_fixtures)
		fixture_free(&t.fixtures[--t.n_fixtures]);
	free(t.fixtures);
	return status;
}
