/* skip.c - the texts of enum skip, enum ijump_kind and enum confidence (ir.h)
 *
 * Enumerations and texts come from the same lists, skip.def and jump.def.
 */
#include "postmorph/ir/ir.h"

const char *const skip_text[NSKIP] = {
#define SKIP(id, text) [SKIP_##id] = text,
#include "postmorph/ir/skip.def"
#undef SKIP
};

const char *const skip_id[NSKIP] = {
#define SKIP(id, text) [SKIP_##id] = #id,
#include "postmorph/ir/skip.def"
#undef SKIP
};

const char *const confidence_name[NCONFIDENCE] = { "low", "medium", "high" };

const char *const jump_name[NJUMP] = {
#define JUMP(id, name) [JUMP_##id] = name,
#include "postmorph/ir/jump.def"
#undef JUMP
};
