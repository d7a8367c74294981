/* catches.c - looks for what handlers of exceptions need among the symbols of a file
 *
 * Tested by tests/unit/postmorph/test_catches.c.
 */
#include "postmorph/catches.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "binary/dynamic.h"
#include "lib/err.h"

/* Besides those of classes in namespace std, see below. */
static const char *const handlers[] = {
	"__cxa_begin_catch", "_Unwind_GetLanguageSpecificData", "_Unwind_RaiseException",
	"_Unwind_Resume_or_Rethrow", "dl_iterate_phdr", "_dl_find_object",
	"_ZSt15set_new_handlerPFvvE", "__gcc_personality_v0",
};

static const char *const excepted[] = {
	"libgcc_s.so.1", "libstdc++.so.6", "libjemalloc.so.2", "libc.so.6",
	"ld-linux-x86-64.so.2",
};

struct look {
	uint32_t seen;
	char name[64];		/* of what tells it; "": nothing does */
};

/* A table of virtual functions, or what a class is called, of one in std. */
static bool is_class_of_std(const char *name)
{
	return strncmp(name, "_ZT", 3) == 0 && strchr("VI", name[3]) && name[3] &&
	       strncmp(name + 4 + (name[4] == 'N'), "St", 2) == 0;
}

static void look_at(void *ctx, uint32_t index, const struct symbol *s)
{
	struct look *l = ctx;
	bool tells = is_class_of_std(s->name);

	(void)index;
	l->seen++;
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		tells |= strcmp(s->name, handlers[i]) == 0;
	if (tells && !l->name[0]) {
		size_t n = strnlen(s->name, sizeof(l->name) - 1);

		memcpy(l->name, s->name, n);
		l->name[n] = '\0';
	}
}

static bool is_excepted(const struct image *img)
{
	uint64_t name, names;

	if (!image_dynamic(img, DT_SONAME, &name) || !image_dynamic(img, DT_STRTAB, &names))
		return false;
	struct rd r = rd_of(image_rest(img, names + name));
	const char *s = rd_str(&r);
	for (size_t i = 0; s && i < sizeof(excepted) / sizeof(excepted[0]); i++)
		if (strcmp(s, excepted[i]) == 0)
			return true;
	return false;
}

int catches_check(const struct image *img, struct err *err)
{
	struct look l = { 0 };

	if (is_excepted(img))
		return 0;
	symbols_each(img, SHT_DYNSYM, look_at, &l);
	if (!l.seen)
		return err_set(err, ERR_REFUSED, "no symbols tell whether it catches "
			       "exceptions");
	if (l.name[0])
		return err_set(err, ERR_REFUSED, "it may catch exceptions (%s)", l.name);
	return 0;
}
