/* verify.c - shows that a generation is its original in another order, or refuses it
 *
 * THE CLAIM of a generation is: "I am the original program, and my block map lists which pieces
 * of my new text are images of which blocks of the original."  verify_generation() reads that
 * claim and runs the parts in verify_parts[] below.  Each part shows one aspect of the claim or
 * refuses with the first doubt; none of them repairs, guesses or skips.
 *
 * THE PROOF is a simulation.  A run of the generation and a run of the original go side by side
 * and agree in memory and registers, with three exceptions: return addresses may lie in images;
 * registers on the way to a jump table may hold the new table's address, or an entry or target
 * of it (dataflow.c shows that nothing else sees those); and pointers to a function are all
 * those of its image where redirected.c, labelwords.c and stalepointers.c have shown that.
 *
 * FILES      Each row of verify_parts[] is a claim, and NAME.c is the file that shows it.  The
 *            rows of verify_helpers[] show nothing: they answer questions of the parts.  These
 *            two tables, verify.c and main.c are the whole folder (test_verify.c holds that).
 *            Files call each other in one direction only (tests/lint/deps.sh holds that): at
 *            the top verify.c, at the bottom lookup.c, frametable.c and effect.c.
 *
 * WHAT THE VERIFIER SHARES WITH THE EDITOR is code in binary/ and lib/, and assumptions.  An
 * error in one of these could mislead both.  The tests named behind each break it in one of the
 * two, or in a program, and say what becomes of that.  Code:
 *
 *   S1  binary/decode*.c: where an instruction ends, its kind, the field that depends on its
 *       place, its constants.  Zydis answers, decode_memo.c remembers answers by its own tables
 *       of opcodes.  Reason: test_decode.c compares what is remembered with what Zydis says
 *       for every opcode and ModRM byte of the one-byte and 0F maps after the usual prefixes,
 *       and has a row written by hand for each kind.  test_decode_maps.c compares it with what
 *       Zydis says of the operands, in every map and with all prefixes; test_processor.c runs
 *       what does no harm.  What an instruction reads and writes the Verifier asks Zydis itself
 *       (effect.c).  [test_assumptions.c]
 *   S2  insn_front_room(), in decode.c too: which instructions may get prefixes that mean
 *       nothing.  Reason: the processor's manuals give the prefix no meaning in 64-bit code
 *       but as a hint of branches, which are not on the list (test_decode.c has some of each
 *       kind; test_decode_maps.c shows for all that Zydis sees the same instruction behind the
 *       prefixes).  That the instruction cannot fault, so that no handler knows its length,
 *       code.c asks Zydis as well (effect.c).  [test_assumptions.c]
 *   S3  binary/image.c: headers, segments and sections of ELF files.  Reason: image_parse()
 *       refuses what readers could understand in two ways (its I1 to I5: of two dynamic
 *       entries with one tag the loader takes the last), and test_image.c damages files.
 *       [test_assumptions.c]
 *   S4  binary/loadtables.c: sections hold all that the dynamic loader reads by dynamic
 *       entries.  Reason: it refuses a file in which they do not, and test_loadtables.c changes
 *       each table.  Relocations and symbols the Verifier reads itself (holders.c), but for
 *       the version with which a symbol is looked for (needed.c; test_needed.c).
 *       [test_assumptions.c]
 *   S5  lib/blockmap.c: the block map.  Reason: the map is only a claim.  A map that is misread
 *       is another claim, which code.c shows or refuses; the Manager reads it by the same code.
 *       [test_assumptions.c]
 *   S6  binary/buildid.c: where a build-id is and what a generation's is.  Reason: nothing that
 *       runs depends on it.  images.sh compares with what readelf finds.  [test_assumptions.c]
 *
 * Assumptions about programs, which no part shows:
 *
 *   A1  Unwind tables of the original are true: an FDE covers one function or a fragment of
 *       one, and a row "CFA is rsp + 8" means that the frame of the entry is there (frames.c,
 *       dataflow.c and stalepointers.c tell tail calls from dispatches by it).  Reason: the
 *       program's own unwinder relies on them.  [test_unseen.c: right all the same]
 *   A2  Which functions never return: by names (returns.c has a list of its own, which is not
 *       the one of postmorph/ir/noreturn.def: it takes every std::__throw_*) and by the least
 *       fixed point over calls.  Reason: the libraries that have these functions say so; names
 *       that others might use count with the version of those libraries only (needed.c).
 *       code.c does not rely on it for what an image does: the way after such a call must be
 *       right as well.  If a name were wrong, dataflow.c would miss uses of a new table's
 *       address behind the call, or a way past the comparison that bounds its index, and
 *       stalepointers.c a way to original code.  [test_assumptions.c, test_unseen.c]
 *   A3  What ends the flow: jumps and returns, and hlt and ud0 to ud2 where their FDE has no
 *       more code behind them; int3 and all else goes on, for a handler may
 *       (verify_goes_on()).  A call comes back to the instruction behind it, if at all, or
 *       behind a return of one byte there (code.c leaves such code alone).  Reason: compilers
 *       know no other way, but for -fsplit-stack.  Data behind a trap nothing leads to
 *       (behindtraps.c); data behind a call are not seen.  Nobody maps the page at address 0,
 *       so that a store there in front of ud2 faults (flow.c asks effect_is_null_store()).
 *       [test_assumptions.c, test_dataflow.c, knows_flow.sh]
 *   A4  Addresses of code in code loaded at any address are formed by `lea ADDRESS(%rip)` of
 *       64 bits, or as a distance of 64 bits from the GOT.  Reason: the psABI's code models
 *       have no other forms.  Any other operand that yields a redirected pointer is refused
 *       (stalepointers.c).  Arithmetic with a pointer that leads to another one is seen where
 *       the pointer was formed (firstbytes.c), and where it leads to stubs to which nothing
 *       else leads (placement.c); once it is in memory or with a callee it is not.
 *       [test_redirected.c, test_unseen.c]
 *   A5  Programs that ask for properties of pointers to functions do so where they form them
 *       (firstbytes.c: order, arithmetic, the code as data, what is between two places of
 *       which the code of one FDE has the addresses), or by what placement.c shows:
 *       sections with names in C, pages, alignment, what stands in front of the entry, the
 *       ends of the code.  Reason: C and C++ give no meaning to any of these.  Pointers that
 *       are fetched from memory and compared by order, and code that a callee reads, are not
 *       seen.  [test_placement.c, test_unseen.c]
 *   A6  Addresses inside functions are known to other code only by the ways that watchedcode.c
 *       and innerwords.c look for: operands of other functions, dynamic symbols, relocated
 *       words, words at a fixed address, distances of words from themselves, restartable
 *       sequences.  Reason: these are the forms that assemblers and linkers have.  A single
 *       word among numbers of other kinds, which could be one by chance, a few distances amid
 *       numbers that lead between instructions as often, a plain word of 32 bits, a distance
 *       from elsewhere, and a constant that looks like a mask, a round number or text are not
 *       seen.  Nor are words that lead into a function with indirect jumps, which may go there,
 *       unless they are distances from themselves, nor labels that code of such a function
 *       forms of its own.
 *       [test_watchedcode.c, test_unseen.c]
 *   A7  What was compared in memory is the same when it is read again, unless an instruction
 *       in between may write there or calls (bounds.c).  Reason: compilers read again what is
 *       not volatile only.  [none: it takes another thread, or a signal]  Nor is what lies
 *       below the stack known by another register than rsp while something is pushed.
 *   A8  A jump table's address that is left in a register is no argument of a callee behind a
 *       jump by the table (one that no jump has used must not differ there: dataflow.c), nor of
 *       a tail call, nor a result; a register that a callee writes on some of its ways only has
 *       the result behind the call, or nothing.  What is pushed or spilled while it is known to
 *       differ is read by rsp only (dataflow.c, spill.c).  Callees keep the callee-saved
 *       registers.  Reason: compilers form the address for the dispatch alone, and the psABI
 *       demands the rest.  [test_assumptions.c, test_unseen.c]
 *   A9  Code is not written to while it runs.  headers.c refuses segments that are writable and
 *       executable; a program that calls mprotect() on its code is not seen.
 *       [test_headers.c, test_unseen.c]
 *   A10 Code of another module, and code that is reached through a pointer, reads no flag
 *       before it has written it, and what calls through a pointer from another module reads
 *       none behind the call, nor does code without an FDE.  Where flags come back through a
 *       pointer, they are read soon, and not behind a computed jump to who knows where.  None
 *       that was written before a call through a pointer, or one of another module, is read
 *       behind it, and none comes back from where a return leads in the place of a jump, as
 *       in a thunk against speculation.
 *       Computed jumps go on inside of their functions by a table (A7), or to a label that an
 *       aligned word of data holds or code forms, or at a distance from such a one or from the
 *       entry that the function forms, or, where the function has no table, to what it has
 *       calculated in registers (calculated.c).  A label that is calculated is not kept in
 *       memory, unless nothing else leads to some label of its function (labelwords.c), nor
 *       handed on to another function, but to a part or a thunk: no argument is one.  No return
 *       leads to a label.  Who handles a signal does not look at the flags of its context, and
 *       where it goes on but behind the instruction, flags are written first.
 *       Only what counts changes flags (flagsdead.c).  Reason: the psABI says so of calls.
 *       [test_counting.c]
 *   A11 A personality routine that has no name in the file, or one of those that personality.c
 *       lists, reads all forms of exception tables that DWARF's unwinders know, and does not
 *       ask where they are.  Reason: the sources of those that it lists; one without a name is
 *       in programs that are linked statically with libstdc++, and stripped; a runtime of D or
 *       Rust in the file is seen, and Rust's is known to count landing pads from the function.
 *       [test_callsites.c]
 */
#include "verify/parts.h"
#include "binary/loadtables.h"

const struct verify_part verify_parts[] = {
	{ "headers", verify_headers,
	  "ELF and program headers are the original's, plus new read-only segments" },
	{ "counting", verify_counting,
	  "the start of a counting generation maps its counters and goes on as the original" },
	{ "front", verify_front,
	  "what gave way to the program headers is elsewhere, unchanged, and found" },
	{ "keptbytes", verify_keptbytes,
	  "every other byte of the original's file is what and where it was" },
	{ "frames", verify_frames,
	  "the unwind tables can be read, and the original's cannot be written to" },
	{ "callsites", verify_callsites,
	  "exceptions at each image go where they go at its original (asked by code.c)" },
	{ "entries", verify_entries,
	  "entry jumps lead to images, and no instruction leads inside one" },
	{ "holders", verify_holders, "nor does any address that the program keeps as data" },
	{ "code", verify_code,
	  "each image does what its original block does, and leads where that leads" },
	{ "coverage", verify_coverage,
	  "new text is images, padding that runs nothing, and what counts" },
	{ "casetables", verify_casetables, "a new jump table leads where the old one leads" },
	{ "dataflow", verify_dataflow,
	  "nothing but the dispatch sees the address of a new jump table" },
	{ "unwindrows", verify_unwindrows,
	  "unwinding through an image is unwinding through its original" },
	{ "redirected", verify_redirected,
	  "a redirected pointer leads to the image of what it led to" },
	{ "labelwords", verify_labelwords,
	  "so does one to a label, and no jump of its function calculates with it" },
	{ "cutlabels", verify_cutlabels,
	  "no jump that calculates where it goes may go inside an entry jump" },
	{ "stalepointers", verify_stalepointers,
	  "no code that can run gets at the old value of a redirected pointer" },
	{ "watchedcode", verify_watchedcode,
	  "code whose inner addresses others know has no image" },
	{ "behindtraps", verify_behindtraps,
	  "nor has code in which data may stand behind a trap" },
	{ "innerwords", verify_innerwords,
	  "nor has code where a word of data leads inside a function" },
	{ "firstbytes", verify_firstbytes,
	  "no code looks at a moved function by its address" },
	{ "placement", verify_placement,
	  "section, alignment and neighbours of a function are those that programs ask for" },
	{ "sections", verify_sections,
	  "section headers are the original's, and the new ones are what they say" },
	{ "symbols", verify_symbols,
	  "added symbols name images by the names of their functions" },
	{ "dynsyms", verify_dynsyms,
	  "so do added dynamic symbols, and every lookup by name finds what it found" },
	{ "probenotes", verify_probenotes,
	  "each static probe point of a moved function has a note for its image" },
	{ "account", verify_account, "there is no byte in the file that no part answers for" },
	{ "buildid", verify_buildid,
	  "the build-id is that of this generation of this original" },
	{ "living", verify_living,
	  "a process that runs the original may go on in the generation (where asked for)" },
	{ NULL, NULL, NULL },
};

const struct verify_helper verify_helpers[] = {
	{ "lookup", "where code is, where images are, whether a way leads to the same place" },
	{ "frametable", "the FDE and the unwind row of an address" },
	{ "framerecords", "the records of .eh_frame, for frames.c" },
	{ "personality", "which personality routines may take few tables, for callsites.c" },
	{ "tableentries", "what the bytes of a jump table say" },
	{ "coderefs", "notes which instructions lead or refer to code, for entries.c" },
	{ "returns", "calls that certainly do not come back" },
	{ "callwrites", "registers that a call may overwrite" },
	{ "ways", "where a computed jump gets its target from, for labelwords.c, cutlabels.c" },
	{ "unled", "is all code of a function led to, for labelwords.c, cutlabels.c" },
	{ "effect", "what one instruction reads and writes" },
	{ "flow", "follows what differs through one function, for dataflow.c" },
	{ "tablelengths", "how many entries of a table a function can read, for dataflow.c" },
	{ "bounds", "how many of them one load can reach, for tablelengths.c" },
	{ "indexop", "what one instruction means for the index, for bounds.c" },
	{ "usedtables", "the jump tables that one function uses, for dataflow.c" },
	{ "values", "what registers hold that differs between the runs, for dataflow.c" },
	{ "spill", "bytes of such registers that are kept in the frame, for dataflow.c" },
	{ "flagsdead", "are flags overwritten before they are read, for what counts" },
	{ "calculated", "jumps to what was calculated in registers, for flagsdead.c" },
	{ "shift", "loads that read a new jump table by the address of the old one" },
	{ "guards", "what compares the index in front of such a load" },
	{ NULL, NULL },
};

static int open_files(struct verify *v, struct bytes original, struct bytes generation)
{
	if (image_parse(original, v->a, &v->orig, v->err) < 0 ||
	    loadtables_check(&v->orig, v->err) < 0)
		return err_wrap(v->err, "original");
	if (image_parse(generation, v->a, &v->gen, v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return err_wrap(v->err, "generation");
	}
	if (!v->counting.wanted && image_section(&v->gen, ".morph.counters"))
		return refuse(v, "an instrumented program: it counts what it does besides");
	const struct section *map = image_section(&v->gen, ".morph.map");
	if (!map || map->h.sh_type == SHT_NOBITS)
		return refuse(v, "no section .morph.map: not a generation");
	if (blockmap_read(bytes_at(generation, map->h.sh_offset, map->h.sh_size), &v->map,
			  v->err) < 0) {
		v->err->kind = ERR_REFUSED;
		return -1;
	}
	struct digest digest = digest_of(original);
	if (!digest_equal(&v->map.original, &digest)) {
		char hex[65];

		digest_hex(&v->map.original, hex);
		return refuse(v, "made from another original, with SHA-256 %s", hex);
	}
	v->stats->generation = v->map.generation;
	v->stats->original = v->map.original;
	return 0;
}

static int run(struct verify *v, struct bytes original, struct bytes generation)
{
	if (open_files(v, original, generation) < 0)
		return -1;
	for (uint32_t i = 0; verify_parts[i].name; i++)
		if (verify_parts[i].run(v) < 0)
			return -1;
	v->stats->blocks = v->map.nblock;
	v->stats->entries = v->map.nentry;
	v->stats->tables = v->map.ntable;
	return 0;
}

enum wanted { PLAIN = 0, COUNTING = 1, LIVING = 2 };	/* bits */

static int verify(struct bytes original, struct bytes generation, unsigned wanted,
		  struct arena *a, struct verify_stats *stats, struct err *err)
{
	struct err unwanted;
	struct verify_stats filled = { 0 };
	struct verify v = { .a = a, .run = arena_new(), .err = err ? err : &unwanted,
		.stats = &filled, .counting.wanted = wanted & COUNTING,
		.living = wanted & LIVING };

	int rc = run(&v, original, generation);
	blockmap_free(&v.map);
	arena_free(v.run);
	if (rc == 0)
		*stats = filled;
	return rc;
}

int verify_generation(struct bytes original, struct bytes generation, struct arena *a,
		      struct verify_stats *stats, struct err *err)
{
	return verify(original, generation, PLAIN, a, stats, err);
}

int verify_counting_generation(struct bytes original, struct bytes generation, struct arena *a,
			       struct verify_stats *stats, struct err *err)
{
	return verify(original, generation, COUNTING, a, stats, err);
}

int verify_live_generation(struct bytes original, struct bytes generation, struct arena *a,
			   struct verify_stats *stats, struct err *err)
{
	return verify(original, generation, LIVING, a, stats, err);
}

int verify_live_counting_generation(struct bytes original, struct bytes generation,
				    struct arena *a, struct verify_stats *stats,
				    struct err *err)
{
	return verify(original, generation, COUNTING | LIVING, a, stats, err);
}
