#include "postmorph/ir.h"

const char *const skip_text[NSKIP] = {
#define SKIP(id, text) [SKIP_##id] = text,
#include "postmorph/skip.def"
#undef SKIP
};
