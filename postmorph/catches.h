/* catches.h - may code of a file catch an exception that came to it through code of others?
 *
 * Asked of all files of a process, before one of them gets text that no unwinder finds rows
 * for: an exception ends at such a frame as at the end of the stack.  Where nobody further out
 * would have caught it, that is what becomes of it anyway: the process is ended.
 *
 * Who catches in C++ calls __cxa_begin_catch; in another language he has a personality routine
 * of his own, which asks for the exception table, or an unwinder of his own, which looks for
 * the rows.  So it is seen in what a file imports.
 *
 * Cancelling a thread unwinds its stack, too.  It ends at such a frame as well: the thread is
 * cancelled, and handlers that pthread_cleanup_push() has registered run, but not those that
 * are in exception tables, as gcc makes of C (-fexceptions): __gcc_personality_v0.  The C
 * library has some of these, around what it calls (pthread_once), which is not looked at.
 *
 * Excepted are libgcc, which catches nothing, and two whose handlers are around calls of C++
 * objects and functions alone, which a file names that has them: libstdc++ (classes derived
 * from those of namespace std), and jemalloc, for operator new (std::set_new_handler).
 */
#ifndef POSTMORPH_CATCHES_H
#define POSTMORPH_CATCHES_H

#include "binary/image.h"

struct err;

/* 0: it does not.  -1, ERR_REFUSED: it may, or has no table of symbols to tell. */
int catches_check(const struct image *img, struct err *err);

#endif
