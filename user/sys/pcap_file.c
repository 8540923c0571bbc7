// SPDX-License-Identifier: GPL-2.0-only
#include "pcap_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pcap/pcap.h>

#include "core/cleanup.h"
#include "core/plural.h"

void pcap_file_close(struct pcap_file *f)
{
	if (f->handle)
		pcap_close(f->handle);
	f->handle = NULL;
}

/* fopen() tells a missing file from a strange one; libpcap has only text. */
static int open_file(struct pcap_file *f, const char *path, struct err *err)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	int type;

	pcap_file_close(f);
	if (!file)
		return err_set(err, -errno, "cannot open the capture '%s': %s", path,
			       strerror(errno));
	f->handle = pcap_fopen_offline(file, why);
	if (!f->handle)
		return err_set(err, -EINVAL,
			       "'%s' is no capture file: %s; allowed: pcap and pcapng", path,
			       why);
	(void)TAKE_PTR(file); /* libpcap closes it */
	snprintf(f->path, sizeof(f->path), "%s", path);
	f->next = 1;
	type = pcap_datalink(f->handle);
	if (type == DLT_EN10MB)
		return 0;
	pcap_file_close(f);
	return err_set(err, -EINVAL,
		       "the capture '%s' has link type %d; allowed: Ethernet (%d), which a capture on one interface has",
		       path, type, DLT_EN10MB);
}

static int read_next(struct pcap_file *f, struct pcap_pkthdr **header,
		     const u_char **data, struct err *err)
{
	int rc = pcap_next_ex(f->handle, header, data);

	if (rc == 1) {
		f->next++;
		return 0;
	}
	if (rc == PCAP_ERROR_BREAK)
		return err_set(err, -ENOENT, "the capture '%s' has %u frame%s", f->path,
			       f->next - 1, plural(f->next - 1));
	return err_set(err, -EIO, "cannot read frame %u of '%s': %s", f->next, f->path,
		       pcap_geterr(f->handle));
}

int pcap_file_read(struct pcap_file *f, const char *path, uint32_t index,
		   struct packet *out, struct err *err)
{
	struct pcap_pkthdr *header;
	const u_char *data;
	int rc = 0;

	if (!f->handle || strcmp(f->path, path) || index < f->next)
		rc = open_file(f, path, err);
	while (!rc && f->next <= index)
		rc = read_next(f, &header, &data, err);
	if (rc)
		return rc;
	if (header->caplen < header->len)
		return err_set(err, -EINVAL,
			       "frame %u of '%s' has only %u of its %u bytes; allowed: whole frames, tcpdump -s 0",
			       index, path, header->caplen, header->len);
	if (header->caplen < PACKET_MIN || header->caplen > PACKET_MAX)
		return err_set(err, -EINVAL, "frame %u of '%s' has %u byte%s; allowed: %d to %d",
			       index, path, header->caplen, plural(header->caplen),
			       PACKET_MIN, PACKET_MAX);
	return packet_copy(data, header->caplen, out, err);
}
