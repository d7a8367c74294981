# pprof.awk - sums of a pprof profile by function, from what protoc --decode prints: NAME TAB SAMPLES
#
# The last line of a location is the function itself, those in front of it were inlined into it.
/^[a-z_]+ \{/ { top = $1; n = 0; delete value; delete fn }
/^    function_id:/ { fn[++n] = $2 }
/^    line:/ { number[n] = $2 }
top == "sample" && /^  location_id:/ { location = $2 }
top == "sample" && /^  value:/ { value[++n] = $2 }
top ~ /^(function|location)$/ && /^  id:/ { id = $2 }
top == "function" && /^  name:/ { name_of[id] = $2 }
/^\}/ && top == "sample" { samples[location] += value[1]; all += value[1]; time += value[2] }
/^\}/ && top == "location" {
	function_of[id] = fn[n]
	innermost[id] = fn[1]
	line_of[id] = number[1]
}
/^string_table:/ {
	text = substr($0, index($0, "\"") + 1)
	text = substr(text, 1, length(text) - 1)
	string[strings++] = text
}
/^period:/ { period = $2 }
END {
	for (l in samples) {
		sum[string[name_of[function_of[l]]]] += samples[l]
		if (string[name_of[innermost[l]]] == "inlined" && samples[l] > most) {
			most = samples[l]
			line = line_of[l]
		}
	}
	for (s in sum)
		print s "\t" sum[s]
	print "(all)\t" all
	printf "(time)\t%.0f\n", time
	printf "(samples times period)\t%.0f\n", all * period
	print "(line of inlined)\t" line
}
