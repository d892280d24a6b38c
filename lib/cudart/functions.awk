# SPDX-License-Identifier: MIT
# docs/runtime-functions.md from lib/cudart/functions.def: `make docs`
BEGIN {
	FS = "[(),]+ *"
	print "# Which functions of the runtime there are\n"
	print "Made by `make docs` from `lib/cudart/functions.def`; do not edit.\n"
	print "`libcudart.so.13` exports every function of CUDA 13.0's. What is not supported answers"
	print "`cudaErrorNotSupported` and writes no output; with `CUDA_LOG_FILE=stderr` it says so. Names that end in"
	print "`_ptds` or `_ptsz` are those that programs import that are built for the per-thread default stream."
}
/^\/\* .* \*\/$/ {
	if (!/SPDX/)
		printf "\n## %s\n\n| symbol | |\n|---|---|\n", substr($0, 4, length($0) - 6)
}
/^(COMPLETE|PARTIAL|UNSUPPORTED)\(/ {
	count[$1]++
	note = $0
	sub(/^[^"]*"/, "", note)
	sub(/"[^"]*$/, "", note)
	status["COMPLETE"] = "complete"
	status["PARTIAL"] = "partial: " note
	status["UNSUPPORTED"] = "not supported: no " note
	printf "| `%s` | %s |\n", $2, status[$1]
}
END {
	printf "\n%d complete, %d partial, %d not supported.\n",
		count["COMPLETE"], count["PARTIAL"], count["UNSUPPORTED"]
}
