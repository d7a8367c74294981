/* cmd.h - the commands of morph-edit, one file each (cmd_NAME.c), and what they share
 *
 * A command turns its arguments into one confined job (lib/confinedjob.h) and returns its exit
 * code: 0 done, 1 failed, 2 wrong usage, 3 refused.  Its work() runs without rights, on the
 * bytes of the inputs.  The table of the commands is in main.c, which no command refers to.
 */
#ifndef EDITOR_CMD_CMD_H
#define EDITOR_CMD_CMD_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct blockmap;
struct confinedjob;
struct err;
struct placement;
struct prog;
struct profile;

/* Returned by a command instead of 2: main.c prints its usage line first. */
enum { CMD_USAGE = -1 };

/* All take the command's arguments, argv[0] being its name, and return its exit code. */
int cmd_analyze(int argc, char **argv);
int cmd_optimize(int argc, char **argv);
int cmd_infer(int argc, char **argv);
int cmd_interpret(int argc, char **argv);
int cmd_inherit(int argc, char **argv);
int cmd_instrument(int argc, char **argv);
int cmd_counts(int argc, char **argv);
int cmd_derived(int argc, char **argv);
int cmd_debugfile(int argc, char **argv);
int cmd_map(int argc, char **argv);
int cmd_extract_map(int argc, char **argv);
int cmd_build_id(int argc, char **argv);
int cmd_placed(int argc, char **argv);
int cmd_catches(int argc, char **argv);
int cmd_symbols(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_foreign(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_picture(int argc, char **argv);
int cmd_code_names(int argc, char **argv);
int cmd_places(int argc, char **argv);
int cmd_unwind_rows(int argc, char **argv);
int cmd_unwind(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_disassemble(int argc, char **argv);

/* inputs.c */
/* Hexadecimal with 0x, or decimal.  -1 (and a message) when `text` is no such number. */
int cmd_number(const char *option, const char *text, uint64_t max, uint64_t *out);

/* The inputs of commands that take a program and its profile. */
enum { CMD_IN_PROGRAM, CMD_IN_PROFILE, CMD_IN_COUNTED };

/* The options, for the table of getopt_long(). */
#define CMD_OPTION_PROFILE { "profile", required_argument, NULL, 'p' }
#define CMD_OPTION_COUNTED { "counted", required_argument, NULL, 'c' }

/* Makes optarg the input of the job that option `c` names; false if it is neither option. */
bool cmd_take_profile(struct confinedjob *job, int c);
/* After all options: sets job->nin for `program` and the profiles that were given.  -1 (and a
 * message) for --counted without --profile. */
int cmd_set_inputs(struct confinedjob *job, char *program);
/* In work(): the profile, with that of --counted in profile->counted; *out is NULL if none was
 * given.  It lives as long as the job.  -1 with the input's name in *err. */
int cmd_read_profile(struct confinedjob *job, const struct profile **out, struct err *err);
/* In work(): -1 if input `i` is a set-user-id or set-group-id file, of which Morph makes no
 * generation. */
int cmd_refuse_setid(const struct confinedjob *job, int i, struct err *err);
/* In work(): where a generation of the program, the job's first input, by that profile would
 * have its blocks; *map is the caller's to free, also where it fails (-1). */
int cmd_place(struct confinedjob *job, const struct prog *prog, const struct profile *profile,
	      struct placement *out, struct blockmap *map, struct err *err);

/* For commands whose arguments are -o OUTPUT and the job's inputs, nin of them: runs the job
 * and returns the exit code. */
int cmd_run(struct confinedjob *job, int argc, char **argv);

#endif
