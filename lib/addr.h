/* addr.h - the number spaces in which Morph speaks of places
 *
 * A bare uint64_t is never an address in an interface.
 */
#ifndef LIB_ADDR_H
#define LIB_ADDR_H

#include <stdint.h>

/* virtual address in an original image, as its program headers say */
typedef uint64_t vaddr;
/* virtual address in a generation; below the first new segment the two spaces coincide,
 * because originals keep their addresses */
typedef uint64_t new_vaddr;
typedef uint64_t file_off;	/* offset in a file, bytes */

#endif
