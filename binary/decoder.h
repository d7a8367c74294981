/* decoder.h - the Zydis decoder of 64-bit code, for what decode.h does not tell */
#ifndef BINARY_DECODER_H
#define BINARY_DECODER_H

#include <Zydis/Zydis.h>

/* Returns the same decoder each time, set up at the first call.  Not for several threads. */
const ZydisDecoder *decoder(void);

#endif
