/* layouts.h - names of profiles, for who keeps or looks for them */
#ifndef MANAGER_TRY_LAYOUTS_H
#define MANAGER_TRY_LAYOUTS_H

struct err;

/* BASENAME.<first 12 digits of its digest>.profile, as `morphctl profile` has it; the caller's.
 * NULL with *err filled. */
char *layouts_profile_name(const char *module, struct err *err);

#endif
