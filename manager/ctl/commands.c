/* commands.c - the table of morphctl's commands: name, least and most arguments that are no
 * options, usage line, help, function
 *
 * Of a command line in a command line, and where short options have values, there are ANY: the
 * command itself looks.
 */
#include <stddef.h>

#include "manager/ctl/ctl.h"

#define UNDO_ARGS \
	"PATH... [--force] | --all [--search | FOLDER...] [--dry-run]\n" \
	"        [--store=DIR] [--root=DIR]"

enum { ANY = -1 };

const struct ctl_command ctl_commands[] = {
	{ "status", 0, 0, "[--check] [--sync]",
	  "what is wrong, sampling, samples by kind, idle conditions, processes; --check: only "
	  "what is wrong, exit code 1 if there is an error among it; --sync takes in\n"
	  "        the spool first",
	  ctl_status },
	{ "list", 0, 0, "[--all]",
	  "modules with their samples, generations and state; --all: also those with\n"
	  "        hardly any samples",
	  ctl_list },
	{ "report", 0, 1,
	  "[MODULE] [--sort=count|name|callees] [--limit=N] [--log=LOG|PROFILE]...\n"
	  "        [--by=machine|user|program|module|procedure|line|inlined|caller]\n"
	  "        [--since=T] [--until=T] [--html=OUT] [--binary=FILE]... [--store=DIR]",
	  "modules and their procedures by samples, or kinds of code, programs, users;\n"
	  "        --since, --until: of a time, T: 12h, 7d, 2026-11-20T14:00; --log:\n"
	  "        recordings (no daemon needed), also by line, inlined function; T: seconds",
	  ctl_report },
	{ "saved", 0, 0, "[--since=T]",
	  "CPU time that generations have saved, by program and in all, as far as it is\n"
	  "        measured, less what Morph has taken; T: 12h, 7d, 2026-11-20T14:30",
	  ctl_saved },
	{ "annotate", 2, 2,
	  "MODULE FUNCTION [--original | --generation[=N]] [--blocks [--limit=N]]\n"
	  "        [--log=LOG|PROFILE]... [--counts=PROFILE [--mhz=N]] [--since=S]\n"
	  "        [--until=S] [--binary=FILE]... [--store=DIR]",
	  "a function's blocks and instructions with samples, cycles and what they wait for,\n"
	  "        as they lie in the original, or in the generation that is at the path;\n"
	  "        --log: by recordings (no daemon needed); --counts: by how often they ran",
	  ctl_annotate },
	{ "explain", 1, 1, "MODULE",
	  "a module in sentences: what runs, what it has brought, what is next, what would\n"
	  "        change that, and why functions are left as they are",
	  ctl_ask_module },
	{ "reoptimize", 0, ANY, "PATH... | --all [--dry-run] [--wait]",
	  "lays modules out anew and swaps them in; --all: those with samples enough; "
	  "--dry-run stops before the swap, --wait begins once the machine is idle",
	  ctl_ask_paths },
	{ "keep", 2, 2, "PATH PROFILE",
	  "lays a module out by a profile that try has saved, and swaps it in", ctl_keep },
	{ "undo", 0, ANY, UNDO_ARGS,
	  "puts originals back, with the daemon or without it; --force: also where somebody\n"
	  "        edited the generation; --dry-run: says what it would do; --root: in "
	  "another system's files",
	  ctl_undo },
	{ "restore", 0, ANY, UNDO_ARGS, "the same as undo", ctl_undo },
	{ "verify", 0, ANY, "PATH... | --all | --packages[=ROOT]",
	  "proves anew that generations are their originals; --packages: that the originals "
	  "of\n"
	  "        rewritten files are what packages delivered",
	  ctl_verify },
	{ "look", 0, 0, "", "looks whether modules were replaced by other files",
	  ctl_ask_alone },
	{ "pause", 0, 0, "", "stops sampling", ctl_ask_alone },
	{ "resume", 0, 0, "", "goes on sampling", ctl_ask_alone },
	{ "history", 0, 1, "[PATH]", "what was done to modules, newest first", ctl_ask_module },
	{ "report-bug", 1, 1, "PATH",
	  "where the report of a generation that crashed is: a tar archive with\n"
	  "        all that its developers need",
	  ctl_ask_module },
	{ "policy", 1, ANY, "check [FILE [PATH...]] | show [PATH] | reload",
	  "checks a policy (no daemon needed), shows the one in use, reads it anew;\n"
	  "        with PATH: which rule is about it",
	  ctl_policy },
	{ "auto", 0, 1, "[on | off] [--policy=FILE]",
	  "says whether programs are laid out anew without being asked, or changes it",
	  ctl_auto },
	{ "share", 0, ANY, "[now] | init CONNINFO | test [--user=NAME] [CONNINFO]",
	  "how exchanges with a fleet's database go; now: one at once; init: makes the\n"
	  "        database's schema or brings it up to date; test: what works and what not",
	  ctl_share },
	{ "record", 0, ANY,
	  "-o LOG [--clock=NAME] [--rate=HZ] [--stacks[=BYTES]]\n"
	  "        [--registers[=STACKBYTES] [--memory]] [--branches[=HZ]] [--pid=PID]\n"
	  "        -- COMMAND...",
	  "samples one command into a log (no daemon needed); --stacks: with who called\n"
	  "        whom; --registers: with what its registers hold, --memory: and point to,\n"
	  "        for edges; --branches: with branch stacks; --pid: a process that runs\n"
	  "        already as well",
	  ctl_record },
	{ "profile", 0, ANY, "LOG -o DIR [--store=DIR]",
	  "makes block profiles of a log, or of counts (no daemon needed)", ctl_profile },
	{ "live", 0, ANY,
	  "[PID... [--off] [--time=S] [--burst=S] [--profiles=DIR] [--module=PATH]]\n"
	  "        [--store=DIR]",
	  "gives processes that run generations of their programs and libraries, by what\n"
	  "        --time seconds of samples show and --burst seconds of counting, or takes\n"
	  "        them back; alone: lists them (root, no daemon)",
	  ctl_live },
	{ "import", 0, ANY, "FILE... -o DIR [--binary=FILE]... [--store=DIR]",
	  "makes block profiles of recordings of perf: perf.data, or text of perf script;\n"
	  "        or of profiles of llvm-bolt: fdata, pre-aggregated (no daemon needed)",
	  ctl_import },
	{ "export", 0, ANY,
	  "LOG|PROFILE... --html=OUT | -o OUT\n"
	  "        --format=pprof|folded|speedscope|firefox|fdata|preagg|yaml|dot|html\n"
	  "        [--module=NAME] [--binary=FILE]... [--store=DIR]",
	  "writes what recordings or profiles show in the forms of other tools, or as one\n"
	  "        page of HTML (no daemon needed)",
	  ctl_export },
	{ "cfg", 2, 2,
	  "MODULE FUNCTION [--dot] [--placed] [--output=FILE]\n"
	  "        [--log=LOG|PROFILE [--binary=FILE]... [--store=DIR]]",
	  "a function's flow graph with executions, as text or for Graphviz; --placed: in the\n"
	  "        order in which it would be laid out; with --log of a recording (then no\n"
	  "        daemon is needed)",
	  ctl_cfg },
	{ "stats", 0, ANY,
	  "LOG|PROFILE|PERIOD... [--by=machine|program|module|procedure|line|inlined]\n"
	  "        [--module=NAME] [--shares] [--since=S] [--until=S] [--sort=NAME]\n"
	  "        [--limit=N] [--binary=FILE]... [--store=DIR]",
	  "what varies over several recordings (no daemon needed), or days: sum, mean,\n"
	  "        deviation, range; --shares: as if all were of one length",
	  ctl_stats },
	{ "diff", 0, ANY,
	  "LOG|PROFILE|PERIOD LOG|PROFILE|PERIOD\n"
	  "        [--by=machine|program|module|procedure|line|inlined] [--module=NAME]\n"
	  "        [--since=S] [--until=S] [--sort=NAME] [--limit=N] [--binary=FILE]...\n"
	  "        [--store=DIR]",
	  "what became more and less from one recording (no daemon needed), or day, to the\n"
	  "        other, and not by chance",
	  ctl_diff },
	{ "metrics", 0, 0, "[--prometheus]",
	  "what the daemon has counted, as OpenMetrics text; --prometheus: in the form of\n"
	  "        before, which node_exporter's textfile collector takes",
	  ctl_metrics },
	{ "try", 0, ANY,
	  "[--time=S] [--prepare=COMMAND] [--output=FILE]... [--repeatable] [--save=DIR]\n"
	  "        [--html=OUT] -- COMMAND... | --pid=PID [--time=S] [--count=COMMAND]\n"
	  "        [--turn=S] [--burst=S] [--keep] [--store=DIR]",
	  "runs a command as it is and with new layouts, and tells how much faster it is (no "
	  "daemon\n"
	  "        and no privileges needed, nothing is kept); --pid: the same of a process "
	  "that runs,\n        in turns with and without them (root)",
	  ctl_try },
	{ "help", 0, 1, "[COMMAND]", "this, or what is said of one command", NULL },
	{ NULL, 0, 0, NULL, NULL, NULL }
};
