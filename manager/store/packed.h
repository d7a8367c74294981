/* packed.h - large texts of the store in fewer bytes, by libzstd
 *
 * What is unpacked was packed here; but a database is a file, so whoever can write it can have
 * anything unpacked: the size that is told is held to a bound before room is made for it.
 */
#ifndef MANAGER_STORE_PACKED_H
#define MANAGER_STORE_PACKED_H

#include "lib/rd.h"
#include "lib/wr.h"

/* Appends; of nothing nothing. */
void packed_write(struct bytes b, struct wr *out);
/* Appends what is packed; false: it is none, or would be of more than `max` bytes. */
bool packed_read(struct bytes packed, uint64_t max, struct wr *out);

#endif
