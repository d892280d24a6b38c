#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: a program in CUDA C++ with kernels of all kinds is compiled by clang
# with memcast's headers, and by nvcc with NVIDIA's. Its kernels run from PTX with the same right results.
# A C function takes the place of a kernel of its name; without it and without PTX, a launch says so.
# shellcheck disable=SC2016	# $program is of the machine's shell
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
source=selftests/ptx/cuda_program.cu
clang=$(for version in -19 -18 -17 -16 '' -15 -14; do command -v clang++$version; done | head -1)
nvcc=$(ls "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" 2>/dev/null)

# compile NAME COMPILER OPTION…: the program becomes $temp/NAME, and is tried by all cases
compile() {
	local name=$1 compiler=$2
	shift 2
	if [ -z "$compiler" ]; then
		skip "$name" "no $name here"
	elif "$compiler" "$@" -std=c++17 $source -o "$temp/$name" -Lbuild/lib -lcuda >"$temp/said" 2>&1; then
		passes "$name"
	else
		fails "$name" <"$temp/said"
	fi
}

# in_machine NAME TRIES COMMAND: a command of a shell, for each $program
in_machine() {
	if [ ${#programs[@]} -eq 0 ]; then
		skip "$1" 'nothing was compiled'
		return
	fi
	tools/memcast-vm --host --devices 2 -- sh -c 'for program; do '"$2"' || exit; done' sh \
		"${programs[@]}" >"$temp/said" 2>&1 </dev/null
	result "$1" $?
}

plan cuda 5
if [ ! -e build/lib/memcast-ptx.so ]; then
	for name in clang nvcc from_ptx by_name without; do
		skip $name 'memcast-ptx.so is not built: LLVM has no headers here'
	done
	exit 0
fi
arch=sm_90
[[ -n $clang && $("$clang" -dumpversion) != 1[0-5].* ]] || arch=sm_86
compile clang "$clang" --config tools/clang/cuda.cfg --offload-arch=$arch -O2 -Wall -Wextra -Werror
compile nvcc "$nvcc" --cudart shared -arch=compute_90 -Iinclude
programs=("$temp"/clang "$temp"/nvcc)
for program in "${!programs[@]}"; do
	[ -e "${programs[program]}" ] || unset "programs[program]"
done

cat >"$temp/kernels.c" <<'END'
#include <memcast/kernel.h>
#include <stdio.h>

/* a namespace's add(int *, const int *, int) */
MEMCAST_KERNEL(_ZN5inner3addEPiPKii, MEMCAST_THREADS_ALONE, int *, const int *, int)
{
	int i = memcast_thread(at);

	if (!i)
		printf("in C\n");
	if (i < MEMCAST_PARAMETER(at, 2, int))
		MEMCAST_PARAMETER(at, 0, int *)[i] += MEMCAST_PARAMETER(at, 1, const int *)[i] * (i & 3);
}
END
${CC:-gcc} -shared -fPIC -O2 -Iinclude -Iinclude/cuda "$temp/kernels.c" -o "$temp/kernels.so" -Lbuild/lib -lcuda || exit

in_machine from_ptx 'said=$($program); echo "$said"; [ $(echo "$said" | grep -c "^ok ") -eq 14 ] &&
	echo "$said" | grep "thread 0 of block 0" && ! echo "$said" | grep "in C"'
in_machine by_name 'said=$(MEMCAST_KERNELS='"$temp"'/kernels.so $program); echo "$said"
	[ $(echo "$said" | grep -c "^ok ") -eq 14 ] && echo "$said" | grep "in C"'
in_machine without 'said=$(MEMCAST_PTX=0 CUDA_LOG_FILE=stderr $program 2>&1); echo "$said"
	echo "$said" | grep "^not ok 1 " &&
	echo "$said" | grep "kernel _ZN5inner3addEPiPKii(8, 8, 4) is not registered"'
exit $failed
