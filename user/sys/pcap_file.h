/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FAIRLEAD_PCAP_FILE_H
#define FAIRLEAD_PCAP_FILE_H

/*
 * Ethernet frames out of capture files (pcap, pcapng), by their number from 1.
 * Reading on from where it stopped costs nothing; going back opens anew.
 */

#include <stdint.h>

#include "core/err.h"
#include "core/packet.h"

struct pcap_file {
	void *handle; /* pcap_t; NULL: not open */
	char path[4096];
	uint32_t next; /* frame that comes next */
};

/*
 * Frame `index` of the file. -ENOENT: the file has fewer, which the sentence
 * says; -EINVAL: no Ethernet, or a frame that was not captured whole; else the
 * file cannot be read.
 */
int pcap_file_read(struct pcap_file *f, const char *path, uint32_t index,
		   struct packet *out, struct err *err);
void pcap_file_close(struct pcap_file *f);
#define _cleanup_pcap_file_ __attribute__((cleanup(pcap_file_close)))

#endif
