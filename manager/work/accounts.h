/* accounts.h - who has an account on this machine, by its file of accounts
 *
 * Not by any other source of names: what is asked here is whether a user id is one of a few
 * that root has made, or could be one of many.
 */
#ifndef MANAGER_WORK_ACCOUNTS_H
#define MANAGER_WORK_ACCOUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct accounts {		/* zeroed: nobody has one */
	uint32_t *uid, n;	/* ascending, each once */
	uint32_t *person, nperson;	/* of them, those of people */
};

/* Anew from HOST/etc/passwd; nobody when it cannot be read. */
void accounts_read(struct accounts *a, const char *host);
bool accounts_has(const struct accounts *a, uint32_t uid);
void accounts_free(struct accounts *a);

#endif
