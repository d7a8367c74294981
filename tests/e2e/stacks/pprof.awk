# pprof.awk - samples of a pprof profile, as protoc --decode prints it, that have function `name` on their stack
/^[a-z_]+ \{/ { top = $1; n = 0 }
top == "sample" && /^  location_id:/ { stack[samples + 1, ++n] = $2 }
top == "sample" && /^  value:/ && !(samples + 1 in value) { value[samples + 1] = $2 }
/^    function_id:/ { fn[++n] = $2 }
top ~ /^(function|location)$/ && /^  id:/ { id = $2 }
top == "function" && /^  name:/ { name_of[id] = $2 }
/^\}/ && top == "sample" { depth[++samples] = n }
/^\}/ && top == "location" {
	for (i = 1; i <= n; i++)
		of[id, i] = fn[i]
	lines[id] = n
}
/^string_table:/ {
	text = substr($0, index($0, "\"") + 1)
	string[strings++] = substr(text, 1, length(text) - 1)
}
END {
	for (s = 1; s <= samples; s++) {
		has = 0
		for (i = 1; i <= depth[s]; i++)
			for (k = 1; k <= lines[stack[s, i]]; k++)
				has = has || string[name_of[of[stack[s, i], k]]] == name
		if (has)
			sum += value[s]
	}
	print sum + 0
}
