#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Programs in CUDA C++: memcast-cu compiles one as C++; if nvcc was there to compile the same
# program, NVIDIA's program runs with the kernels of memcast-cu's shared object.
cd "$(dirname "$0")" || exit 1
failed=0

# run NUMBER NAME FILE WHAT-IS-MISSING KERNELS: runs a program that prints its own results
run() {
	number=$1 name=$2 file=$3 missing=$4 kernels=$5
	if [ ! -x "$file" ]; then
		echo "ok $number cu.$name # SKIP $missing"
		return
	fi
	said=$(CUDA_LOG_FILE=stderr MEMCAST_KERNELS=$kernels "$file" ${kernels:+kernels} 2>&1)
	status=$?
	echo "$said" | sed 's/^/# /'
	if [ $status -eq 0 ] && [ "$(echo "$said" | grep -c '^ok ')" -eq 7 ]; then
		echo "ok $number cu.$name"
	else
		failed=1
		echo "# exit status $status"
		echo "not ok $number cu.$name"
	fi
}

echo "TAP version 13"
echo "1..3"
run 1 compiled_as_cpp ./cu_program "no C++ compiler to build it with" ""
run 2 nvcc_program_with_kernels_of_a_shared_object ./cu_program.nvcc \
	"no nvcc to build it with" ./cu_program.so
# Without the shared object, the library refuses the first launch and names the kernel.
if [ ! -x ./cu_program.nvcc ]; then
	echo "ok 3 cu.nvcc_program_without # SKIP no nvcc to build it with"
elif CUDA_LOG_FILE=stderr ./cu_program.nvcc 2>&1 |
		grep -q 'kernel _ZN5inner3addEPiPKii(8, 8, 4) is not registered'; then
	echo "ok 3 cu.nvcc_program_without"
else
	failed=1
	echo "not ok 3 cu.nvcc_program_without"
fi
exit $failed
