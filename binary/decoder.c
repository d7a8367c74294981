/* decoder.c - the Zydis decoder of 64-bit code
 *
 * Tested by tests/unit/binary/test_decode.c, which decodes with it.
 */
#include "binary/decoder.h"

#include <stdbool.h>

const ZydisDecoder *decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready) {
		(void)ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ready = true;		/* constant arguments: cannot fail */
	}
	return &d;
}
