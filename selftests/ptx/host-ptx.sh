#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: kernels run from their PTX in machines that have memcast-ptx.so
# and LLVM, which are too large for the machines of all other tests.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
object=build/lib/memcast-ptx.so

if [ ! -e $object ]; then
	plan ptx 1
	skip machines "no $object: LLVM's headers are missing"
	exit 0
fi
for kernel in 6.1 6.12; do
	machine "kernels from PTX, Linux $kernel" --kernel $kernel --root --devices 4 --add $object \
		--add build/selftests/ptx_test --add build/selftests/ptx_condition_test \
		--add build/selftests/examples_test \
		--add build/selftests/examples -- \
		sh -c 'build/selftests/ptx_test && build/selftests/ptx_condition_test && build/selftests/examples_test'
done
exit $failed
