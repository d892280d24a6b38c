# SPDX-License-Identifier: MIT
# `make docs`: docs/functions.md from lib/functions.def, docs/stack/runtime-functions.md from
# lib/cudart/functions.def
BEGIN {
	FS = "[(),]+ *"
	runtime = ARGV[1] ~ /cudart/
	print runtime ? "# Which functions of the runtime there are\n" : "# Which functions there are\n"
	print "Made by `make docs` from `" ARGV[1] "`; do not edit.\n"
	if (runtime) {
		print "`libcudart.so.13` exports every function of CUDA 13.0's. What is not supported answers"
		print "`cudaErrorNotSupported` and writes no output; with `CUDA_LOG_FILE=stderr` it says so. Names that end in"
		print "`_ptds` or `_ptsz` are those that programs import that are built for the per-thread default stream."
	} else {
		print "The library exports every function of CUDA 13.0's `libcuda.so`, and what else NVIDIA's"
		print "`libcuda.so.1` does, so that any program loads. What is"
		print "not supported answers `CUDA_ERROR_NOT_SUPPORTED` and writes no output; with `CUDA_LOG_FILE=stderr` it"
		print "says so. \"Since\" is the CUDA version that brought the symbol."
	}
	status["COMPLETE"] = "complete"
	status["PARTIAL"] = "partial: "
	status["UNSUPPORTED"] = runtime ? "not supported: no " : "NOT_SUPPORTED: no "
}
/^\/\* .* \*\/$/ {
	if (!/SPDX/)
		printf "\n## %s\n\n| symbol |%s |\n|---|---|%s\n", substr($0, 4, length($0) - 6),
			runtime ? "" : " since |", runtime ? "" : "---|"
}
/^(COMPLETE|PARTIAL|UNSUPPORTED)\(/ {
	count[$1]++
	note = $0
	sub(/^[^"]*"/, "", note)
	sub(/"[^"]*$/, "", note)
	printf "| `%s` |%s %s%s |\n", $2, runtime ? "" : sprintf(" %d.%d |", $3 / 1000, $3 % 1000 / 10),
		status[$1], $1 == "COMPLETE" ? "" : note
}
END {
	printf "\n%d complete, %d partial, %d not supported.\n",
		count["COMPLETE"], count["PARTIAL"], count["UNSUPPORTED"]
}
