/* addr.h - one type for each kind of address: in an original, in a generation, in a file
 *
 * No interface passes an address as a bare uint64_t.
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
