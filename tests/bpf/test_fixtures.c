// SPDX-License-Identifier: GPL-2.0-only
/*
 * `fairlead test` with the real program: the examples pass, cases that are
 * wrong fail and say how, and nothing stays behind.
 */
#include <libgen.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "user/core/cleanup.h"

#define CONFIG "--config examples/fairlead.yaml "
#define ENDS "198.51.100.7:40000 > 203.0.113.10:443 "

struct outcome {
	int status;
	char *text; /* stdout and stderr */
};

static void outcome_free(struct outcome *o)
{
	free(o->text);
}
#define _cleanup_outcome_ _cleanup_(outcome_free)

/* The command lies two directories above this test. */
static void command_path(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	n = snprintf(path, PATH_MAX, "%s/../../fairlead", dirname(self));
	assert_in_range(n, 1, PATH_MAX - 1);
}

/* Run a line of shell; the command's path is its $0. */
static struct outcome run_line(const char *line)
{
	_cleanup_free_ char *whole = NULL;
	char command[PATH_MAX], block[4096];
	struct outcome o = { 0 };
	size_t size, n;
	FILE *pipe, *text = open_memstream(&o.text, &size);

	command_path(command);
	assert_true(asprintf(&whole, "%s '%s' 2>&1", line, command) > 0);
	pipe = popen(whole, "r");
	assert_non_null(pipe);
	while ((n = fread(block, 1, sizeof(block), pipe)))
		fwrite(block, 1, n, text);
	o.status = WEXITSTATUS(pclose(pipe));
	fclose(text);
	return o;
}

static struct outcome fairlead_test(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static struct outcome fairlead_test(const char *format, ...)
{
	_cleanup_free_ char *words = NULL, *line = NULL;
	va_list args;

	va_start(args, format);
	assert_true(vasprintf(&words, format, args) > 0);
	va_end(args);
	assert_true(asprintf(&line, "sh -c '\"$0\" test %s'", words) > 0);
	return run_line(line);
}

/* A file of cases that goes with the test. */
struct file {
	char path[64];
};

static void file_remove(struct file *f)
{
	unlink(f->path);
}
#define _cleanup_file_ _cleanup_(file_remove)

static struct file file_with(const char *text)
{
	struct file f = { "/tmp/fairlead-fixtures-XXXXXX" };
	int fd = mkstemp(f.path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return f;
}

static void assert_has(const struct outcome *o, const char *part)
{
	if (!strstr(o->text, part))
		fail_msg("'%s' is not in: %s", part, o->text);
}

static void the_examples_pass(void **state)
{
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "examples/cases");

	(void)state;
	assert_has(&o, "pass  a flow stays with its backend\n");
	assert_has(&o, "pass  DNS over GUE to an IPv6 backend\n");
	assert_has(&o, "pass  ping is answered over IPv6\n");
	assert_has(&o, "pass  an error goes to the backend of its flow\n");
	assert_has(&o, "pass  a packet that is too big is answered\n");
	assert_has(&o, "pass  a client that moves keeps its backend\n");
	assert_has(&o, " passed, 0 failed\n");
	assert_int_equal(o.status, 0);
}

/* Each case is wrong in one way, and right in all else that it says. */
static const char wrong_cases[] =
	"cases:\n"
	"  - name: verdict\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: pass\n"
	"  - name: dropped\n"
	"    in: tcp 198.51.100.7:40000 > 203.0.113.10:80 flags=S\n"
	"    verdict: tx\n"
	"  - name: reason\n"
	"    in: tcp 198.51.100.7:40000 > 203.0.113.10:80 flags=S\n"
	"    verdict: drop\n"
	"    reason: headroom\n"
	"  - name: backend\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: tx\n"
	"    backend: [web-old, dns-1]\n"
	"  - name: outer\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: tx\n"
	"    outer: {src: 10.1.0.2, ttl: 63, vlan: 7}\n"
	"  - name: out\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: tx\n"
	"    out: tcp " ENDS "flags=S dmac=02:00:00:00:00:02 smac=02:00:00:00:00:00\n"
	"  - name: counter\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: tx\n"
	"    counters: {passed: 1, sent_tx: 1, backend web-2 packets: 1}\n"
	"  - name: second step\n"
	"    steps:\n"
	"      - in: tcp " ENDS "flags=S\n"
	"        verdict: tx\n"
	"        counters: {vip 203.0.113.10:443/tcp new_flows: 1}\n"
	"      - in: tcp " ENDS "\n"
	"        verdict: tx\n"
	"        counters: {vip 203.0.113.10:443/tcp new_flows: 1}\n"
	"  - name: right\n"
	"    in: tcp " ENDS "flags=S\n"
	"    verdict: tx\n"
	"    counters: {vip 203.0.113.10:443/tcp new_flows: 1, sent_tx: 1}\n";

static void wrong_cases_fail_and_say_how(void **state)
{
	_cleanup_file_ struct file f = file_with(wrong_cases);
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "%s", f.path);

	(void)state;
	assert_int_equal(o.status, 1);
	assert_has(&o, "FAIL  verdict\n");
	assert_has(&o, ":2: step 1: verdict: expected pass, got tx\n");
	assert_has(&o, ":5: step 1: verdict: expected tx, got drop (no_service)\n");
	assert_has(&o, ":8: step 1: verdict: expected drop (headroom), got drop (no_service)\n");
	assert_has(&o, ": backend: expected web-old or dns-1, got web-2\n");
	assert_has(&o, ": outer ttl: expected 63, got 64\n");
	assert_has(&o, ": outer vlan: expected 7, got -\n");
	assert_null(strstr(o.text, "outer src"));
	assert_has(&o, ": packet out: expected 54 bytes, got 74 bytes, others from byte 17 on\n");
	assert_has(&o, ": counter passed: expected +1, got +0\n");
	assert_null(strstr(o.text, "counter sent_tx"));
	assert_null(strstr(o.text, "counter backend web-2"));
	assert_has(&o, ": step 2: counter vip 203.0.113.10:443/tcp new_flows: expected +1, got +0\n");
	assert_has(&o, "pass  right\n");
	assert_has(&o, "1 passed, 8 failed\n");
}

static void both_packets_stand_side_by_side(void **state)
{
	_cleanup_file_ struct file f = file_with(
		"cases:\n"
		"  - name: out\n"
		"    in: tcp " ENDS "flags=S\n"
		"    verdict: tx\n"
		"    out: tcp " ENDS "flags=S dmac=02:00:00:00:00:02 smac=02:00:00:00:00:00\n"
		"  - name: dropped\n"
		"    in: tcp 198.51.100.7:40000 > 203.0.113.10:80 flags=S\n"
		"    verdict: tx\n");
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "%s", f.path);

	(void)state;
	assert_int_equal(o.status, 1);
	assert_has(&o, "      EXPECTED                                    OUT\n"
		       "      54 bytes                                  ! 74 bytes\n"
		       "      eth   02:00:00:00:00:00                   | eth   02:00:00:00:00:00\n"
		       "          > 02:00:00:00:00:02                   |     > 02:00:00:00:00:02\n"
		       "            type 0x0800                         |       type 0x0800\n"
		       "      ipv4  198.51.100.7 > 203.0.113.10         ! ipv4  10.1.0.2 > 10.1.0.12\n");
	assert_has(&o, "      54 bytes                                  | nothing: drop (no_service)\n");
}

static void tap_has_a_plan_and_a_line_for_each_case(void **state)
{
	_cleanup_file_ struct file f = file_with(
		"cases:\n"
		"  - {name: good, in: 'tcp " ENDS "', verdict: tx}\n"
		"  - {name: bad, in: 'tcp " ENDS "', verdict: pass}\n");
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "--tap %s", f.path);

	(void)state;
	assert_int_equal(o.status, 1);
	assert_ptr_equal(strstr(o.text, "TAP version 13\n1..2\nok 1 - good\nnot ok 2 - bad\n# "),
			 o.text);
	assert_has(&o, "# IN ");
	/* Nothing else may stand at the start of a line. */
	for (char *line = strstr(o.text, "not ok"); (line = strchr(line, '\n')) && line[1];
	     line++)
		assert_int_equal(line[1], '#');
}

static void tap_says_when_the_run_cannot_go_on(void **state)
{
	_cleanup_file_ struct file f = file_with("cases:\n  - name: a\n    in: nix\n");
	_cleanup_outcome_ struct outcome wrong =
		fairlead_test(CONFIG "--tap %s 2> /dev/null", f.path);
	_cleanup_outcome_ struct outcome config = fairlead_test(
		"--config /nonexistent/c.yaml --tap examples/cases 2> /dev/null");
	/* Without capabilities, which the kernel wants before it loads a program. */
	_cleanup_outcome_ struct outcome refused =
		run_line("sh -c 'setpriv --bounding-set=-all --inh-caps=-all \"$0\" test "
			 CONFIG "--tap examples/cases 2> /dev/null'");
	char start[128];

	(void)state;
	snprintf(start, sizeof(start), "TAP version 13\nBail out! %s:3:9: ", f.path);
	assert_int_equal(wrong.status, 78);
	assert_ptr_equal(strstr(wrong.text, start), wrong.text);
	assert_int_equal(config.status, 78);
	assert_ptr_equal(strstr(config.text, "TAP version 13\nBail out! "), config.text);
	assert_has(&config, "/nonexistent/c.yaml");
	assert_int_not_equal(refused.status, 0);
	assert_ptr_equal(strstr(refused.text, "TAP version 13\nBail out! "), refused.text);
}

static void a_document_has_cases_and_failures(void **state)
{
	_cleanup_file_ struct file f = file_with(
		"cases:\n"
		"  - {name: good, in: 'tcp " ENDS "', verdict: tx}\n"
		"  - {name: bad, in: 'tcp " ENDS "', verdict: pass}\n");
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "-j %s", f.path);
	const char *what, *expected, *got, *in, *out, *result;
	int passed, failed, line, step;
	json_auto_t *doc = json_loads(o.text, 0, NULL);

	(void)state;
	assert_int_equal(o.status, 1);
	assert_non_null(doc);
	assert_int_equal(json_unpack(doc, "{s:i, s:i, s:[{s:s}, {s:s, s:s, s:s, s:i}], s:[{s:s, s:s, s:s, s:i}]}",
				     "passed", &passed, "failed", &failed, "cases",
				     "result", &result, "result", &what, "in", &in, "out",
				     &out, "step", &step, "failures", "what", &what,
				     "expected", &expected, "got", &got, "line", &line),
			 0);
	assert_int_equal(passed, 1);
	assert_int_equal(failed, 1);
	assert_string_equal(result, "pass");
	assert_string_equal(what, "verdict");
	assert_string_equal(expected, "pass");
	assert_string_equal(got, "tx");
	assert_int_equal(line, 3);
	assert_int_equal(strlen(in), 2 * 54);
	assert_int_equal(strlen(out), 2 * 74);
}

static void what_is_recorded_passes(void **state)
{
	_cleanup_outcome_ struct outcome recorded = { 0 }, o = { 0 };
	char here[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	recorded = fairlead_test(CONFIG "--record %s/examples/cases/dns.pcap", here);
	assert_int_equal(recorded.status, 0);
	assert_has(&recorded, "backend: \"dns-1\"\n");
	assert_has(&recorded, "verdict: pass\n        out: same\n");

	_cleanup_file_ struct file f = file_with(recorded.text);
	o = fairlead_test(CONFIG "%s", f.path);
	assert_has(&o, "pass  frames of dns.pcap\n");
	assert_int_equal(o.status, 0);
}

/* What is recorded of a capture of that name, and what comes of it as a case. */
static struct outcome record_as(const char *name)
{
	_cleanup_free_ char *line = NULL;

	assert_true(asprintf(&line,
			     "NAME='%s' sh -c 'd=$(mktemp -d) && trap \"rm -r $d\" EXIT && "
			     "cp examples/cases/dns.pcap \"$d/$NAME\" && "
			     "\"$0\" test " CONFIG "--record \"$d/$NAME\" > $d/c.yaml && "
			     "\"$0\" test " CONFIG "$d/c.yaml'",
			     name) > 0);
	return run_line(line);
}

static void what_is_recorded_passes_whatever_the_name(void **state)
{
	/* With "frames of " in front the 128th byte is half a letter. */
	static const char letters[] =
		"a.\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
		"\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9";
	_cleanup_outcome_ struct outcome even = record_as(letters);
	_cleanup_outcome_ struct outcome odd = record_as(letters + 1);
	_cleanup_outcome_ struct outcome marks = record_as("# : {\"x\"}\t\\n");
	_cleanup_outcome_ struct outcome latin = record_as("caf\xe9.pcap");

	(void)state;
	assert_has(&even, "1 passed, 0 failed\n");
	assert_has(&odd, "1 passed, 0 failed\n");
	assert_has(&marks, "1 passed, 0 failed\n");
	assert_int_equal(latin.status, 78);
	assert_has(&latin, "caf\\xe9.pcap' is not UTF-8 text, as a file of cases is");
}

/* A capture of so many frames that are no IP packets. */
static struct file capture_with(int frames)
{
	static const uint32_t header[] = { 0xa1b2c3d4, 4 << 16 | 2, 0, 0, 65535, 1 };
	static const uint32_t frame[] = { 0, 0, 16, 16, 0, 0, 0, 0 };
	struct file f = file_with("");
	FILE *file = fopen(f.path, "we");

	assert_non_null(file);
	fwrite(header, sizeof(header), 1, file);
	for (int i = 0; i < frames; i++)
		fwrite(frame, sizeof(frame), 1, file);
	assert_int_equal(fclose(file), 0);
	return f;
}

static void assert_disk_full(const char *words)
{
	_cleanup_outcome_ struct outcome o = fairlead_test(CONFIG "%s > /dev/full", words);

	if (o.status != 1 || !strstr(o.text, "No space left on device"))
		fail_msg("%s: status %d: %s", words, o.status, o.text);
}

static void what_cannot_be_written_is_a_failure(void **state)
{
	/* Fewer and more than the buffer of stdout has room for. */
	_cleanup_file_ struct file few = capture_with(1), many = capture_with(200);
	char words[128];

	(void)state;
	snprintf(words, sizeof(words), "--record %s", few.path);
	assert_disk_full(words);
	snprintf(words, sizeof(words), "--record %s", many.path);
	assert_disk_full(words);
	assert_disk_full("examples/cases");
	assert_disk_full("--tap examples/cases");
	assert_disk_full("--json examples/cases");
}

static void the_icmp_rate_of_the_configuration_counts(void **state)
{
	_cleanup_file_ struct file config = file_with(
		"interface: eth0\nicmp_rate: 0\nvips: [{address: 203.0.113.10:443/tcp}]\n");
	_cleanup_file_ struct file f = file_with(
		"cases: [{name: a, in: icmp 198.51.100.7 > 203.0.113.10, verdict: drop,\n"
		"  reason: icmp_limit}]\n");
	_cleanup_outcome_ struct outcome o =
		fairlead_test("--config %s %s", config.path, f.path);

	(void)state;
	assert_has(&o, "pass  a\n");
	assert_int_equal(o.status, 0);
}

/* Flows, fragments and limits of the case before, all within one second. */
static void a_case_knows_nothing_of_the_one_before(void **state)
{
	_cleanup_file_ struct file config = file_with(
		"interface: eth0\nicmp_rate: 1\n"
		"vips: [{address: 203.0.113.10:443/tcp, pool: p}, {address: 203.0.113.10:53/udp, pool: p}]\n"
		"pools: {p: {backends: [{address: 10.1.0.11}]}}\n");
	_cleanup_file_ struct file f = file_with(
		"cases:\n"
		"  - {name: a, in: icmp 198.51.100.7 > 203.0.113.10, verdict: tx}\n"
		"  - {name: b, in: icmp 198.51.100.7 > 203.0.113.10, verdict: tx}\n"
		"  - {name: c, in: udp 198.51.100.7:9 > 203.0.113.10:53 frag=0+ id=7 bytes=8, verdict: tx,\n"
		"     counters: {'vip 203.0.113.10:53/udp new_flows': 1}}\n"
		"  - {name: d, in: udp 198.51.100.7:9 > 203.0.113.10:53 frag=16 id=7 bytes=8, verdict: drop,\n"
		"     reason: fragment_unknown, counters: {drop fragment_unknown: 1}}\n"
		"  - {name: e, in: 'tcp " ENDS "flags=S', verdict: tx,\n"
		"     counters: {'vip 203.0.113.10:443/tcp new_flows': 1}}\n"
		"  - {name: f, in: 'tcp " ENDS "flags=A', verdict: tx,\n"
		"     counters: {'vip 203.0.113.10:443/tcp new_flows': 1}}\n");
	_cleanup_outcome_ struct outcome o =
		fairlead_test("--config %s %s", config.path, f.path);

	(void)state;
	assert_has(&o, "6 passed, 0 failed\n");
	assert_int_equal(o.status, 0);
}

static void the_mtu_of_the_file_is_that_of_the_way(void **state)
{
	_cleanup_file_ struct file fits = file_with(
		"mtu: 1400\ncases:\n  - {name: a, in: 'tcp " ENDS "bytes=1340', verdict: tx}\n");
	_cleanup_file_ struct file exceeds = file_with(
		"mtu: 1400\ncases:\n  - {name: b, in: 'tcp " ENDS "bytes=1341', verdict: tx,\n"
		"     backend: [web-1, web-2]}\n");
	_cleanup_file_ struct file usual = file_with(
		"cases:\n  - {name: c, in: 'tcp " ENDS "bytes=1341', verdict: tx}\n");
	_cleanup_outcome_ struct outcome o =
		fairlead_test(CONFIG "%s %s %s", fits.path, exceeds.path, usual.path);

	(void)state;
	assert_int_equal(o.status, 1);
	assert_has(&o, "pass  a\nFAIL  b\n");
	assert_has(&o, "pass  c\n");
}

static void wrong_files_and_words_have_exit_statuses(void **state)
{
	_cleanup_file_ struct file f = file_with("cases:\n  - name: a\n    in: nix\n");
	static const char *const usage[] = {
		"examples/cases", "--config examples/fairlead.yaml", CONFIG "--nix examples/cases",
		CONFIG "--record a.pcap examples/cases", CONFIG "--tap -j examples/cases",
		CONFIG CONFIG "examples/cases", "examples/cases --config",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(usage) / sizeof(usage[0]); i++) {
		_cleanup_outcome_ struct outcome o = fairlead_test("%s", usage[i]);

		if (o.status != 64)
			fail_msg("%s: status %d: %s", usage[i], o.status, o.text);
	}

	_cleanup_outcome_ struct outcome bad = fairlead_test(CONFIG "%s", f.path);
	_cleanup_outcome_ struct outcome missing = fairlead_test(CONFIG "/nonexistent/a.yaml");
	_cleanup_outcome_ struct outcome config =
		fairlead_test("--config /nonexistent/c.yaml examples/cases");

	_cleanup_outcome_ struct outcome capture = fairlead_test(CONFIG "--record %s", f.path);
	_cleanup_outcome_ struct outcome no_capture =
		fairlead_test(CONFIG "--record /nonexistent/a.pcap");

	assert_int_equal(bad.status, 78);
	assert_has(&bad, ":3:9: case 'a': protocol 'nix' is not known");
	assert_int_equal(missing.status, 78);
	assert_int_equal(config.status, 78);
	assert_int_equal(capture.status, 78);
	assert_int_equal(no_capture.status, 78);
}

/*
 * Pins and attached programs are all that could outlive the command: in
 * namespaces of its own, where nobody else has any, there are none behind it.
 */
static void nothing_is_pinned_or_attached(void **state)
{
	_cleanup_outcome_ struct outcome o = { 0 };

	(void)state;
	o = run_line("unshare -mn sh -c 'mount -t bpf bpf /sys/fs/bpf && \"$0\" test "
		     CONFIG "examples/cases/mtu.yaml && ls -A /sys/fs/bpf | grep -v debug; ip link'");
	assert_int_equal(o.status, 0);
	assert_has(&o, "4 passed, 0 failed\n1: lo");
	assert_null(strstr(o.text, "xdp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_examples_pass),
		cmocka_unit_test(wrong_cases_fail_and_say_how),
		cmocka_unit_test(both_packets_stand_side_by_side),
		cmocka_unit_test(tap_has_a_plan_and_a_line_for_each_case),
		cmocka_unit_test(tap_says_when_the_run_cannot_go_on),
		cmocka_unit_test(a_document_has_cases_and_failures),
		cmocka_unit_test(what_is_recorded_passes),
		cmocka_unit_test(what_cannot_be_written_is_a_failure),
		cmocka_unit_test(what_is_recorded_passes_whatever_the_name),
		cmocka_unit_test(the_icmp_rate_of_the_configuration_counts),
		cmocka_unit_test(a_case_knows_nothing_of_the_one_before),
		cmocka_unit_test(the_mtu_of_the_file_is_that_of_the_way),
		cmocka_unit_test(wrong_files_and_words_have_exit_statuses),
		cmocka_unit_test(nothing_is_pinned_or_attached),
	};

	if (geteuid() != 0) {
		puts("SKIP: loading BPF programs needs root");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
