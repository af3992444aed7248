# Makes a table of what "go test -bench" prints. A benchmark names a metric of
# its own with dashes, and its unit after the last one: timer-to-model-call-ms.

BEGIN {
	own["MB/s"] = "throughput-MB/s"
	own["ns/op"] = "each-ns"
	own["B/op"] = "allocated-for-each-bytes"
	own["allocs/op"] = "allocated-for-each-allocations"
}

/^cpu:/ && !cpu { cpu = $0; sub(/^cpu: */, "on ", cpu); print cpu }

/^Benchmark/ && NF >= 4 {
	title = $1
	sub(/^Benchmark/, "", title)
	sub(/-[0-9]+$/, "", title) # the number of processors
	sub(/\//, ", ", title)
	gsub(/[A-Z]/, " &", title)
	print "\n" substr(title, 2, 1) tolower(words(substr(title, 3)))
	for (i = 3; i < NF; i += 2)
		row($(i + 1) in own ? own[$(i + 1)] : $(i + 1), $i)
	next
}

# What is neither a metric nor a matter of course is what went wrong.
/^(Benchmark|goos|goarch|pkg|cpu|PASS|ok|\?)/ || NF == 0 { next }
/FAIL/ { failed = 1 }
{ print }

END { exit failed }

function words(s) { gsub(/-/, " ", s); return s }

# row prints a metric: its name, its value, its unit.
function row(metric, value,    unit) {
	unit = metric
	sub(/.*-/, "", unit)
	sub(/-[^-]*$/, "", metric)
	if (unit == "ns" && value >= 1000) { value /= 1000; unit = "µs" }
	if (unit == "µs" && value >= 10000) { value /= 1000; unit = "ms" }
	printf "  %-34s %12s  %s\n", words(metric), number(value), unit
}

# number shows three digits or more, in groups of three.
function number(x,    s, whole, rest) {
	s = sprintf(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x)
	whole = s
	sub(/\..*/, "", whole)
	rest = substr(s, length(whole) + 1)
	while (match(whole, /^[0-9]+[0-9][0-9][0-9]/) && match(whole, /[0-9][0-9][0-9]($|,)/))
		whole = substr(whole, 1, RSTART - 1) "," substr(whole, RSTART)
	sub(/^,/, "", whole)
	return whole rest
}
