/* program.h - opening a program by its path, for those who must not be led elsewhere */
#ifndef MANAGER_PARENT_PROGRAM_H
#define MANAGER_PARENT_PROGRAM_H

struct err;

/* For reading: a regular file at an absolute path in which no symbolic link is, so that who
 * owns a folder above it cannot lead the reader to a file that he could not read himself,
 * and of a size that programs have.  Opens no devices and pipes; -1 with ERR_REFUSED or
 * ERR_SYS. */
int program_open(const char *path, struct err *err);
/* The same for programs and shared libraries in ELF only: whatever else its size and name may
 * be, a core file or an object file is refused. */
int program_open_elf(const char *path, struct err *err);

/* Where the program of Morph's of that name is: beside the one that runs, when that runs from
 * where it was built, else in libexec/morph.  The caller's; NULL when in neither place. */
char *program_of_ours(const char *name);

#endif
