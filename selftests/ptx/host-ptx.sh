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
		$(printf -- '--add %s ' build/selftests/ptx_*test) --add build/selftests/examples_test \
		--add build/selftests/examples -- \
		sh -c 'for test in build/selftests/ptx_*test build/selftests/examples_test; do $test || exit; done'
done
exit $failed
