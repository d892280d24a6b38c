#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: what tools/memcast-vm says of a program or a machine that cannot
# do what was asked.
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
vm=$PWD/tools/memcast-vm
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
status=0

# check NAME COMMAND…: a failed command shows what the last run said
check() {
	if "${@:2}"; then
		passes "$1"
	else
		fails "$1" < <(tail -n 30 "$temp/err"; echo "status $status")
	fi
}
told() { grep -qE -- "$1" "$temp/err"; }

plan words 14

# The strings are those of NVIDIA's static runtime, as a stripped program has them.
${CC:-gcc} -o "$temp/takes" -x c - <<-END
	#include <stdlib.h>
	#include <string.h>
	const char *strings[] = { "cuGetExportTable", "cudaErrorCudartUnloading" };
	int main(void)
	{
		for (;;)
			memset(malloc(1 << 20), strings[0][0], 1 << 20);
	}
END
"$vm" --no-module --memory 256 -- "$temp/takes" 2>"$temp/err" </dev/null || status=$?
check static_runtime told "takes has NVIDIA's static runtime, .* nvcc --cudart shared "
check out_of_memory told 'killed process [0-9]+ \(takes\): --memory gives .* its 256 MiB$'
check killed_by_a_signal [ $status -eq 137 ]

status=0
"$vm" --devices 2 --pool-mib 128 --memory 224 -- "$temp/takes" 2>"$temp/err" </dev/null || status=$?
check no_room_for_pools told 'memcast-vm: --memory gives .* its 224 MiB$'
check no_other_words [ "$(grep -c ':[0-9]* failed: ' "$temp/err")" -eq 0 ]

# memory AVAILABLE OPTION…: prints how much memory a machine with these options has where this
# computer has so many MiB, and the machine's files have 1 MiB
memory() {
	/usr/bin/python3 -IBc 'import sys
sys.path.insert(0, "tools")
from vm import host, machine, options
asked = options.Options([*sys.argv[2:], "true"], host.Place("tools", "/nowhere"))
print(machine.choose_memory(asked, "6.12", 1 << 20, lambda: int(sys.argv[1])))' "$@"
}
# The pools, Linux's description of pages, what the module leaves free, and 400 MiB for all else
enough() {
	local memory
	memory=$(memory 64000 --pool-mib 1024 --devices 4)
	[ $((memory - memory / 64 - memory / 16 - 4096)) -ge 400 ]
}
check memory_for_large_pools enough

# Without --pool-mib a device has an H100's memory, and the machine half of what this computer has.
${CC:-gcc} -Iinclude -Iinclude/cuda -o "$temp/touches" -x c - -Lbuild/lib -lcuda <<-END
	#include <cuda.h>
	int main(void)
	{
		CUcontext context;
		CUdeviceptr at;
		size_t free, total;

		return cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemGetInfo(&free, &total) ||
		       total != 81078UL << 20 || cuMemAlloc(&at, 40UL << 30) ||
		       cuMemsetD8(at, 1, 2 << 20) ||
		       cuMemsetD8(at, 1, 1UL << 30) != CUDA_ERROR_OUT_OF_MEMORY;
	}
END
status=0
"$vm" --memory 768 --env CUDA_LOG_FILE=stderr -- "$temp/touches" 2>"$temp/err" </dev/null || status=$?
check large_pools [ $status -eq 0 ]
check pools_past_the_memory told 'memcast-vm: programs touched more .* --memory gives .* its 768 MiB$'
by_the_computer() {
	[ "$(memory 64000) $(memory 8000) $(memory 100)" = '6144 4000 834' ]
}
check memory_of_the_computer by_the_computer

# nvidia-smi is memcast-smi where there is no other.
"$vm" --devices 2 --pool-mib 16 -- nvidia-smi -L >"$temp/err" 2>&1 </dev/null
check nvidia_smi [ "$(grep -c '^GPU [01]: .* (UUID: GPU-' "$temp/err")" -eq 2 ]
"$vm" --host --devices 2 --pool-mib 16 -- sh -c 'nvidia-smi -L' >"$temp/err" 2>&1 </dev/null
check nvidia_smi_with_the_hosts_files [ "$(grep -c '^GPU [01]: .* (UUID: GPU-' "$temp/err")" -eq 2 ]
mkdir "$temp/bin"
printf '#!/bin/sh\necho another\n' >"$temp/bin/nvidia-smi"
chmod +x "$temp/bin/nvidia-smi"
"$vm" --no-module --add "$temp/bin/nvidia-smi:/usr/bin/nvidia-smi" -- sh -c nvidia-smi >"$temp/err" 2>&1 </dev/null
check another_nvidia_smi told '^another$'

# What translates PTX is there for a program with device code alone: with LLVM it is large.
ptx=$PWD/build/lib/memcast-ptx.so
if [ -e "$ptx" ]; then
	for word in .nv_fatbin .text; do
		printf '# %s\n[ -e %s ] && echo translates\n' $word "$ptx" >"$temp/$word"
		"$vm" --devices 1 -- sh "$temp/$word"
	done >"$temp/err" 2>&1 </dev/null
	check translator_for_device_code [ "$(grep -c '^translates$' "$temp/err")" -eq 1 ]
	# so it is for the device code of a library that the program opens
	"$vm" --devices 1 --add "$temp/.nv_fatbin:/lib/some.so" -- sh "$temp/.text" \
		>"$temp/err" 2>&1 </dev/null
	check translator_for_an_added_library told '^translates$'
else
	skip translator_for_device_code "no $ptx"
	skip translator_for_an_added_library "no $ptx"
fi
exit $failed
