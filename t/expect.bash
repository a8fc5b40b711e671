# SPDX-License-Identifier: MIT
# Frames beside what the collections of machines expect of them.
# shellcheck shell=bash disable=SC2154

# The frame on stdout, as the lines that an expect.tsv has.
as_expected() {
	printf '%s\n' "$output" | awk -F'\t' -v OFS='\t' '
	function key(name,  i) {
		for (i = 7; i <= NF; i++)
			if (index($i, name "=") == 1)
				return substr($i, length(name) + 2)
		return "-"
	}
	$1 == "gpu" { uuid[$2] = $3; line[++n] = $0; next }
	$1 == "proc" {
		busy[$2] = 1
		name = key("comm")
		gsub(/\\\\/, "\\", name)
		proc[++m] = "proc" OFS uuid[$2] OFS $3 OFS $7 OFS name
	}
	END {
		for (i = 1; i <= n; i++) {
			$0 = line[i]
			place = $7
			if (place == "yes" && $4 == "-")
				place = "unknown"
			if (place == "alone" && busy[$2])
				place = "no"
			print "gpu", $2, $3, $4, $5, key("free"), $6, place
		}
		for (i = 1; i <= m; i++)
			print proc[i]
	}'
}
