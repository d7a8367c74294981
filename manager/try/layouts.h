/* layouts.h - names of profiles, for who keeps or looks for them; that there are no layouts */
#ifndef MANAGER_TRY_LAYOUTS_H
#define MANAGER_TRY_LAYOUTS_H

struct err;

/* BASENAME.<first 12 digits of its digest>.profile, as `morphctl profile` has it; the caller's.
 * NULL with *err filled. */
char *layouts_profile_name(const char *module, struct err *err);
/* Always -1: of all modules none is left, this one for that reason, whose text may begin with
 * the path itself. */
int layouts_none(const char *path, const char *why, struct err *err);

#endif
