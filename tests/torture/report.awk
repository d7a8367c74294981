# report.awk - the report of a torture run from its result lines
#
#	awk -f report.awk -v chosen=N lines work-lines
#
# A line is fields KEY=VALUE divided by tabs; file.sh and work.sh say which.  Exits 1 when there is
# anything the report must not hold: a fault, a difference, a file without an answer.

BEGIN { FS = "\t" }

{
	delete v
	for (i = 1; i <= NF; i++) {
		eq = index($i, "=")
		value = substr($i, eq + 1)
		v[substr($i, 1, eq - 1)] = value ~ /^[0-9]+$/ ? value + 0 : value
	}
}

FILENAME ~ /work-lines$/ {
	work[++nwork] = $0
	runs[v["result"]]++
	next
}

{
	nfile++
	ncopy += v["copies"]
	file_bytes += v["size"]
	answer[v["answer"]]++
	editors[v["editor"]]++
	editor_moved[v["editor"]] += v["answer"] == "moved"
	editor_orders[v["editor"]] += v["orders"]
	if (v["orders"] > 1)
		editor_orders_too[v["editor"]]++
	kind_answer[v["kind"], v["answer"]]++
	kinds[v["kind"]]++
	exec_of[v["answer"]] += v["exec"]
	n = split(v["faults"], f, ";")
	for (i = 1; i < n; i++) {
		fault[++nfault] = "`" v["path"] "`: " f[i]
		split(f[i], part, ":")
		faults[part[1]]++
	}
	if (v["answer"] == "refused") {
		refused[v["reason"]]++
		refused_exec[v["reason"]] += v["exec"]
		if (!(v["reason"] in example) || length(v["path"]) < length(example[v["reason"]]))
			example[v["reason"]] = v["path"]
		if (v["runtimes"] != "-" || v["setid"] != "0" ||
		    v["kind"] !~ /^(PIE|fixed|static|library)$/)
			other_refused++
		else {
			native_refused++
			native_refused_exec += v["exec"]
		}
	}
	if (v["an"] != "")
		time_of("an", v["text"], v["an"], v["an_kib"])
}

v["fde"] != "" {
	fns += v["functions"]; movable += v["movable"]
	text += v["text"]; fde += v["fde"]
	n = split(v["jumps"], s, ";")
	for (i = 1; i < n; i++) {
		split(s[i], part, ":")
		jumps[part[1]] += part[2]
		if (part[1] == "tail call")
			continue
		inside += part[2]
		if (part[1] == "jump table" || part[1] == "label") {
			inside_new += part[2]
		} else if (part[2] > jumps_most[part[1]]) {
			jumps_most[part[1]] = part[2]
			jumps_file[part[1]] = v["path"]
		}
	}
	if (v["pointers_known"] != "") {
		known += v["pointers_known"]; unknown += v["pointers_unknown"]; pointer_files++
	}
	n = split(v["skip"], s, ";")
	for (i = 1; i < n; i++) {
		split(s[i], part, ":")
		skip_fns[part[1]] += part[2]
		skip_bytes[part[1]] += part[3]
		if (part[1] == "procedure linkage table")
			plt += part[3]
	}
}

v["moved"] != "" {
	moved += v["moved"]; moved_bytes += v["moved_bytes"]; grown += v["grown"]
	moved_size += v["size"]; orders += v["orders"]
	layout[v["kind"], v["layout"]]++
	layouts[v["layout"]]++
	time_of("op", v["text"], v["op"], v["op_kib"])
	time_of("ve", v["text"], v["ve"], v["ve_kib"])
	total_ms = v["op"] + v["ve"]
	if (total_ms > slow_ms) { slow_ms = total_ms; slow = v["path"] }
	kib = v["op_kib"] > v["ve_kib"] ? v["op_kib"] : v["ve_kib"]
	if (kib + 0 > big_kib) { big_kib = kib + 0; big = v["path"] }
	share = v["fde"] > 0 ? v["moved_bytes"] / v["fde"] : 0
	low[share < .5 ? 0 : share < .9 ? 1 : share < .95 ? 2 : share < .99 ? 3 : share < .995 ? 4 : 5]++
}

# Classes of text size: under 16 KiB, 64 KiB, 256 KiB, ...
function class_of(bytes,	c) {
	for (c = 0; bytes >= 16384 && c < 7; c++)
		bytes /= 4
	return c
}

function time_of(what, bytes, ms, kib,	c) {
	if (bytes == "")
		return
	c = class_of(bytes)
	ms_sum[what, c] += ms
	if (ms > ms_max[what, c]) ms_max[what, c] = ms
	if (kib > kib_max[what, c]) kib_max[what, c] = kib
	if (what == "an") { class_files[c]++; class_bytes[c] += bytes }
	if (what == "op") { op_bytes[c] += bytes; moved_files[c]++ }
	all_ms[what] += ms
}

function share_of(a, b) {
	return b > 0 ? sprintf("%.3f %%", 100 * a / b) : "-"
}

# Keys of `count` in falling order of it, ties by name, in sorted[1..n].
function sort_keys(count, sorted,	n, k, i, j, t) {
	n = 0
	for (k in count) {
		sorted[++n] = k
		for (i = n; i > 1; i--) {
			j = i - 1
			if (count[sorted[j]] > count[sorted[i]] ||
			    (count[sorted[j]] == count[sorted[i]] && sorted[j] <= sorted[i]))
				break
			t = sorted[j]; sorted[j] = sorted[i]; sorted[i] = t
		}
	}
	return n
}

function mib(bytes) { return sprintf("%.1f MiB", bytes / 1048576) }

function summary() {
	print "## Summary\n"
	if (nfile < chosen)
		printf "Not complete: %d files were not reached.\n\n",
			chosen - nfile
	print "| what | measured | to be |"
	print "|---|---|---|"
	printf "| files with an answer (verified in every order, or refused with a reason) | %d of %d | all |\n",
		answer["moved"] + answer["refused"], chosen
	printf "| native files: bytes under unwind information that moved | %s | 99.5 %% |\n",
		share_of(moved_bytes, fde)
	printf "| the same without procedure linkage tables, which the linker made | %s | |\n",
		share_of(moved_bytes, fde - plt)
	printf "| native files refused (not Go, OCaml, Haskell, Pascal, set-id) | %d, %s of code | |\n",
		native_refused, mib(native_refused_exec)
	printf "| generations that the verifier refused | %d | 0 |\n", faults["verifier"]
	printf "| crashes, time-outs, failures, refusals without a reason | %d | 0 |\n",
		nfault - faults["verifier"]
	printf "| runs of programs with different output | %d of %d | 0 |\n", runs["different"],
		runs["different"] + runs["same"]
	printf "| computed jumps inside functions that end in the new text | %s | 97 %% |\n",
		share_of(inside_new, inside)
	print ""
}

function table_editors(	n, i, keys) {
	print "| version (Editor) | files | moved and verified | in other orders, too | generations |"
	print "|---|---|---|---|---|"
	n = sort_keys(editors, keys)
	for (i = 1; i <= n; i++)
		printf "| %s | %d | %d | %d | %d |\n", keys[i], editors[keys[i]], editor_moved[keys[i]],
			editor_orders_too[keys[i]], editor_orders[keys[i]]
	print ""
}

function table_files(	k, n, i, keys) {
	print "## Files\n"
	printf "%d different files (%d with copies), %s; %d verified generations.\n\n", nfile, ncopy,
		mib(file_bytes), orders
	table_editors()
	print "| kind | files | moved | refused | failed |"
	print "|---|---|---|---|---|"
	n = sort_keys(kinds, keys)
	for (i = 1; i <= n; i++) {
		k = keys[i]
		printf "| %s | %d | %d | %d | %d |\n", k, kinds[k], kind_answer[k, "moved"],
			kind_answer[k, "refused"], kind_answer[k, "failed"]
	}
	printf "\n| of the files that were analysed | |\n|---|---|\n"
	printf "| executable sections | %s |\n", mib(text)
	printf "| under unwind information | %s |\n", mib(fde)
	printf "| functions | %d |\n| functions moved | %d |\n| bytes moved | %s |\n", fns, moved,
		mib(moved_bytes)
	printf "| growth of the moved files | %s, %.0f %% |\n", mib(grown),
		moved_size ? 100 * grown / moved_size : 0
	printf "| computed jumps inside functions; by tables, to labels that go along | %d; %d, %d |\n", inside,
		jumps["jump table"], jumps["label"]
	printf "| functions with pointers that are all known, and not (in %d files) | %d, %d |\n\n",
		pointer_files, known, unknown
	print "Share of a file's bytes under unwind information that moved, in files:\n"
	print "| under 50 % | to 90 % | to 95 % | to 99 % | to 99.5 % | more |"
	print "|---|---|---|---|---|---|"
	printf "| %d | %d | %d | %d | %d | %d |\n\n", low[0], low[1], low[2], low[3], low[4], low[5]
}

function table_jumps(	n, i, keys) {
	print "## Indirect jumps\n"
	print "What `morph-edit analyze` says of them.  By proven tables, and to labels whose pointers are all known,"
	print "they end in the new text; tail calls leave their function; of the others some do, and some stay in"
	print "the original.\n"
	print "| kind | jumps | the file with most |"
	print "|---|---|---|"
	n = sort_keys(jumps, keys)
	for (i = 1; i <= n; i++)
		printf "| %s | %d | %s |\n", keys[i], jumps[keys[i]], keys[i] in jumps_file ?
			"`" jumps_file[keys[i]] "`, " jumps_most[keys[i]] : ""
	print ""
}

function table_reasons(	n, i, keys) {
	print "## Refused files\n"
	print "| reason | files | code | one of them |"
	print "|---|---|---|---|"
	n = sort_keys(refused, keys)
	for (i = 1; i <= n; i++)
		printf "| %s | %d | %s | `%s` |\n", keys[i], refused[keys[i]],
			mib(refused_exec[keys[i]]), example[keys[i]]
	print "\n## Functions that stay\n"
	print "| reason | functions | bytes | share of bytes |"
	print "|---|---|---|---|"
	n = sort_keys(skip_bytes, keys)
	for (i = 1; i <= n; i++)
		printf "| %s | %d | %.0f | %s |\n", keys[i], skip_fns[keys[i]], skip_bytes[keys[i]],
			share_of(skip_bytes[keys[i]], fde)
	print ""
}

function table_layouts(	n, i, keys, m, j, lkeys) {
	print "## Layouts\n"
	m = sort_keys(layouts, lkeys)
	printf "| kind |"
	for (j = 1; j <= m; j++) printf " %s |", lkeys[j]
	printf "\n|---|"
	for (j = 1; j <= m; j++) printf "---|"
	print ""
	n = sort_keys(kinds, keys)
	for (i = 1; i <= n; i++) {
		if (!kind_answer[keys[i], "moved"])
			continue
		printf "| %s |", keys[i]
		for (j = 1; j <= m; j++) printf " %d |", layout[keys[i], lkeys[j]]
		print ""
	}
	print ""
}

function class_name(c,	kib) {
	kib = 16 * 4 ^ c
	return c == 7 ? "more" : kib < 1024 ? "< " kib " KiB" : "< " kib / 1024 " MiB"
}

function per_mib(ms, bytes) { return bytes ? sprintf("%.0f", ms * 1048576 / bytes) : "-" }

function table_costs(	c) {
	print "## Time and memory\n"
	print "CPU time of one command (for optimize and verify the slowest order of a file), ms for each MiB of"
	print "text over a class of text sizes, the most any one file took, and the greatest resident set.\n"
	print "| text | files | analyse ms/MiB | optimize | verify | most ms | optimize | verify | peak MiB: analyse | optimize | verify |"
	print "|---|---|---|---|---|---|---|---|---|---|---|"
	for (c = 0; c <= 7; c++) {
		if (!class_files[c])
			continue
		printf "| %s | %d | %s | %s | %s | %d | %d | %d | %.0f | %.0f | %.0f |\n", class_name(c),
			class_files[c], per_mib(ms_sum["an", c], class_bytes[c]),
			per_mib(ms_sum["op", c], op_bytes[c]), per_mib(ms_sum["ve", c], op_bytes[c]),
			ms_max["an", c], ms_max["op", c], ms_max["ve", c], kib_max["an", c] / 1024,
			kib_max["op", c] / 1024, kib_max["ve", c] / 1024
	}
	printf "\nSlowest: `%s`, %.1f s of optimize and verify.  Largest: `%s`, %.0f MiB.\n\n", slow,
		slow_ms / 1000, big, big_kib / 1024
}

function table_faults(	i) {
	print "## Faults\n"
	if (!nfault)
		print "None."
	for (i = 1; i <= nfault; i++)
		print "* " fault[i]
	print ""
}

function table_work(	i, j, eq) {
	print "## Programs that ran\n"
	if (!nwork) {
		print "None in this run.\n"
		return
	}
	print "Original and generations with the same input from the same path; standard output, standard error and"
	print "exit code compared byte for byte.\n"
	print "| workload | files moved | order | result | | version (Editor), if not this one |"
	print "|---|---|---|---|---|---|"
	for (i = 1; i <= nwork; i++) {
		delete v
		m = split(work[i], f, "\t")
		for (j = 1; j <= m; j++) {
			eq = index(f[j], "=")
			v[substr(f[j], 1, eq - 1)] = substr(f[j], eq + 1)
		}
		printf "| %s | %s | %s | %s | %s | %s |\n", v["work"], v["files"], v["order"], v["result"],
			v["note"], v["editor"]
	}
	print ""
}

END {
	summary()
	table_files()
	table_jumps()
	table_reasons()
	table_layouts()
	table_costs()
	table_work()
	table_faults()
	exit nfault > 0 || runs["different"] + runs["failed"] > 0 ||
		answer["moved"] + answer["refused"] < chosen
}
