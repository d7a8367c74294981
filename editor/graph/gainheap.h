/* gainheap.h - which of many possible joins gains most; knows numbers only
 *
 * Gains change while joins are made, and an entry is not searched for to be changed: a new one
 * with a higher stamp is put in, and who takes out one whose stamp is not the item's present
 * one drops it.
 */
#ifndef EDITOR_GRAPH_GAINHEAP_H
#define EDITOR_GRAPH_GAINHEAP_H

#include <stdbool.h>
#include <stdint.h>

struct gainheap_entry {
	double gain;
	uint32_t item, stamp;
};

struct gainheap {		/* zeroed: empty */
	struct gainheap_entry *entry;
	uint32_t n, cap;
};

void gainheap_push(struct gainheap *h, double gain, uint32_t item, uint32_t stamp);
/* Most gain first; among equals the lower item, then the higher stamp.  False when empty. */
bool gainheap_pop(struct gainheap *h, struct gainheap_entry *out);
void gainheap_free(struct gainheap *h);

#endif
