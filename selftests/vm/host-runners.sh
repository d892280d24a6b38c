#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: test runners and tools that look into programs, with memcast-vm,
# as docs/your-tools.md describes them, as far as they are installed. One boot. Each runs a test, or
# a program, that succeeds, and one that fails.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
top=$PWD
temp=$(mktemp -d "$PWD/build/host-runners.XXXXXX")
chmod 755 "$temp"
export XDG_RUNTIME_DIR=$temp/names
mkdir -m 700 "$XDG_RUNTIME_DIR" && mkdir "$temp/out"
vm=("$top/tools/memcast-vm" --reuse --name runners --rw "$temp/out" --devices 2 --pool-mib 16 --)
cleanup() {
	"$top/tools/memcast-vm" stop runners >/dev/null 2>&1
	rm -rf "$temp"
}
trap cleanup EXIT
cd "$temp" || exit 1

# check NAME TOOLS COMMAND: runs the command, and shows its output if it fails
check() {
	local tool is=0
	for tool in $2; do
		command -v "$tool" >/dev/null || { skip "$1" "no $tool here"; return; }
	done
	"$3" >said 2>&1 || is=$?
	result "$1" $is
}

cat >t.c <<'END'
#include <cuda.h>
#include <stdlib.h>

/* Whether there are so many devices */
int main(int argc, char **argv)
{
	int count = 0;

	return argc != 2 || cuInit(0) || cuDeviceGetCount(&count) || count != atoi(argv[1]);
}
END

cmake_project() {
	cat >CMakeLists.txt <<-END
		cmake_minimum_required(VERSION 3.10)
		project(t C)
		enable_testing()
		add_executable(t t.c)
		target_include_directories(t PRIVATE $top/include)
		target_link_libraries(t PRIVATE $top/build/lib/libcuda.so.1)
		add_test(NAME two COMMAND t 2)
		add_test(NAME three COMMAND t 3)
	END
}
with_ctest() {
	cmake_project
	cmake -B cmake "-DCMAKE_CROSSCOMPILING_EMULATOR=$(IFS=';'; echo "${vm[*]}")" &&
		cmake --build cmake || return
	! ctest --test-dir cmake >ctest.out || return
	cat ctest.out
	grep -q 'two .*Passed' ctest.out && grep -q 'three .*Failed' ctest.out
}
# The build names no emulator, and lies in the folder that the machine may write to.
with_ctest_inside() {
	cmake_project
	cmake -B out/cmake && cmake --build out/cmake || return
	! "${vm[@]}" ctest --test-dir out/cmake --output-junit "$temp/out/ctest.xml" || return
	cat out/ctest.xml
	grep -q 'tests="2"' out/ctest.xml && grep -q 'failures="1"' out/ctest.xml &&
		grep -q 'name="three".*status="fail"' out/ctest.xml
}
meson_project() {
	cat >meson.build <<-END
		project('t', 'c')
		cuda = meson.get_compiler('c').find_library('cuda', dirs: '$top/build/lib')
		t = executable('t', 't.c', dependencies: cuda, c_args: '-I$top/include')
		test('two', t, args: '2')
		test('three', t, args: '3')
	END
}
with_meson() {
	meson_project
	meson setup meson || return
	! meson test -C meson --wrapper "${vm[*]}" >meson.out || return
	cat meson.out
	grep -qE 'two +OK' meson.out && grep -qE 'three +FAIL' meson.out
}
with_meson_inside() {
	meson_project
	meson setup out/meson && ninja -C out/meson || return
	! "${vm[@]}" meson test -C out/meson --no-rebuild || return
	cat out/meson/meson-logs/testlog.txt
	grep -q 'tests="2".*failures="1"' out/meson/meson-logs/testlog.junit.xml
}
with_cargo() {
	mkdir src
	printf '[package]\nname = "t"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	echo "fn main() { println!(\"cargo:rustc-link-search=$top/build/lib\"); }" >build.rs
	cat >src/lib.rs <<-'END'
		#[link(name = "cuda")]
		extern "C" {
		    fn cuInit(flags: u32) -> i32;
		    fn cuDeviceGetCount(count: *mut i32) -> i32;
		}

		pub fn devices() -> i32 {
		    let mut count = 0;
		    unsafe { if cuInit(0) != 0 || cuDeviceGetCount(&mut count) != 0 { return -1 } }
		    count
		}

		#[test]
		fn two() { assert_eq!(devices(), 2); }
		#[test]
		fn three() { assert_eq!(devices(), 3); }
	END
	! CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="${vm[*]}" cargo test --offline --lib \
		>cargo.out || return
	cat cargo.out
	grep -q 'two \.\.\. ok' cargo.out && grep -q 'three \.\.\. FAILED' cargo.out
}
with_pytest() {
	cat >test_devices.py <<-'END'
		import ctypes

		cuda = ctypes.CDLL("libcuda.so.1")


		def devices():
		    count = ctypes.c_int()
		    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
		    return count.value


		def test_two():
		    assert devices() == 2


		def test_three():
		    assert devices() == 3
	END
	! "${vm[@]}" "$python" -m pytest -p no:cacheprovider \
		--junitxml=out/junit.xml test_devices.py >pytest.out || return
	cat pytest.out
	grep -q 'failures="1".* tests="2"' out/junit.xml
}
with_mpirun() {
	cat >ranks.c <<-'END'
		#include <cuda.h>
		#include <mpi.h>

		/* Whether all four ranks have the devices */
		int main(int argc, char **argv)
		{
			int count = 0, sum = 0, ranks;

			MPI_Init(&argc, &argv);
			MPI_Comm_size(MPI_COMM_WORLD, &ranks);
			if (cuInit(0) || cuDeviceGetCount(&count))
				MPI_Abort(MPI_COMM_WORLD, 2);
			MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			MPI_Finalize();
			return ranks != 4 || sum != 8;
		}
	END
	mpicc -I"$top/include" ranks.c -o ranks -L"$top/build/lib" -lcuda || return
	"${vm[@]}" mpirun --allow-run-as-root --oversubscribe -n 4 ./ranks &&
		! "${vm[@]}" mpirun --allow-run-as-root --oversubscribe -n 3 ./ranks
}
with_gtest() {
	cat >g.cc <<-'END'
		#include <cuda.h>
		#include <gtest/gtest.h>

		static int devices()
		{
			int count = 0;

			return cuInit(0) || cuDeviceGetCount(&count) ? -1 : count;
		}

		TEST(devices, two) { EXPECT_EQ(2, devices()); }
		TEST(devices, three) { EXPECT_EQ(3, devices()); }
	END
	g++ -I"$top/include" g.cc -o g -L"$top/build/lib" -lcuda -lgtest_main -lgtest || return
	! "${vm[@]}" ./g --gtest_output=xml:out/g.xml || return
	grep -q 'tests="2" failures="1"' out/g.xml
}

# The tools below look into t, which the first of them compiles; valgrind looks into a program that
# makes the library write to freed memory.
compile() { [ -e "$1" ] || cc -g -I"$top/include" "$1.c" -o "$1" -L"$top/build/lib" -lcuda; }
with_strace() {
	compile t || return
	"${vm[@]}" strace -y -e trace=ioctl -o out/strace ./t 2 &&
		! "${vm[@]}" strace -o /dev/null ./t 3 || return
	cat out/strace
	grep -q '^ioctl([0-9]*</dev/memcast>.* = 0' out/strace
}
with_perf() {
	compile t || return
	"${vm[@]}" perf stat -e task-clock,page-faults -o out/perf ./t 2 &&
		! "${vm[@]}" perf stat -o /dev/null ./t 3 || return
	cat out/perf
	grep -qE '[1-9][0-9.,]* +page-faults' out/perf
}
with_valgrind() {
	local status=0
	cat >ends.c <<-'END'
		#include <cuda.h>
		#include <stdlib.h>

		int main(void)
		{
			int *count = malloc(sizeof(*count));

			free(count);
			return cuInit(0) || cuDeviceGetCount(count);
		}
	END
	compile t && compile ends || return
	"${vm[@]}" valgrind --error-exitcode=9 ./t 2 || return
	"${vm[@]}" valgrind --error-exitcode=9 ./ends || status=$?
	[ $status -eq 9 ]
}

plan runners 11
check ctest "cmake ctest" with_ctest
check ctest_inside "cmake ctest" with_ctest_inside
check meson "meson ninja" with_meson
check meson_inside "meson ninja" with_meson_inside
check cargo cargo with_cargo
# Debian's package of pytest is for Debian's own python3, which need not be the first in PATH.
for python in python3 /usr/bin/python3 python3-pytest; do
	! "$python" -c 'import pytest' 2>/dev/null || break
done
check pytest "$python" with_pytest
check mpirun "mpirun mpicc" with_mpirun
gtest=g++
[ -e /usr/include/gtest/gtest.h ] || gtest=gtest/gtest.h
check gtest "$gtest" with_gtest
check strace strace with_strace
# Ubuntu's perf is a script that starts the perf of the running kernel; a machine's kernel has none.
perf=perf
! head -c 2 "$(command -v perf || echo /dev/null)" | grep -q '#!' || perf=perf-of-any-kernel
check perf "$perf" with_perf
check valgrind valgrind with_valgrind
exit $failed
