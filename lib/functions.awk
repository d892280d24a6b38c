# SPDX-License-Identifier: MIT
# docs/functions.md from functions.def: `make docs`
BEGIN {
	FS = "[(),]+ *"
	print "# Which functions there are\n"
	print "Made by `make docs` from `lib/functions.def`; do not edit.\n"
	print "The library exports every function of CUDA 13.0's `libcuda.so`, and what else NVIDIA's"
	print "`libcuda.so.1` does, so that any program loads. What is"
	print "not supported answers `CUDA_ERROR_NOT_SUPPORTED` and writes no output; with `CUDA_LOG_FILE=stderr` it"
	print "says so. \"Since\" is the CUDA version that brought the symbol."
}
/^\/\* .* \*\/$/ {
	if (!/SPDX/)
		printf "\n## %s\n\n| symbol | since | |\n|---|---|---|\n", substr($0, 4, length($0) - 6)
}
/^(COMPLETE|PARTIAL|UNSUPPORTED)\(/ {
	count[$1]++
	note = $0
	sub(/^[^"]*"/, "", note)
	sub(/"[^"]*$/, "", note)
	status["COMPLETE"] = "complete"
	status["PARTIAL"] = "partial: " note
	status["UNSUPPORTED"] = "NOT_SUPPORTED: no " note
	printf "| `%s` | %d.%d | %s |\n", $2, $3 / 1000, $3 % 1000 / 10, status[$1]
}
END {
	printf "\n%d complete, %d partial, %d not supported.\n",
		count["COMPLETE"], count["PARTIAL"], count["UNSUPPORTED"]
}
