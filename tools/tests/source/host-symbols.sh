#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: the libraries export what their tables list, and what NVIDIA's
# library of that name exports, if its stub is found.
# Usage: host-symbols.sh [FOLDER OF THE BUILT LIBRARY]
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
library=${1:-build/lib}/libcuda.so.1
runtime=${1:-build/lib}/libcudart.so.13

exports() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | sort -u; }

plan symbols 10
all=$(exports "$library" 2>&1)
holds only_cu_and_memcast "$(echo "$all" | grep -vE '^(cu[A-Z]|memcast[A-Z])')"
holds nothing_is_missing "$(for name in cuInit cuMemCreate cuMemMap cuMulticastCreate \
	cuMulticastBindMem_v2 cuMemcpyHtoD_v2 cuMemsetD32_v2 cuCtxCreate_v4 \
	cuGetProcAddress cuGetProcAddress_v2 cuEGLStreamConsumerConnect cuGLGetDevices \
	cuGraphicsVDPAURegisterVideoSurface cuMemGetAttribute memcastViewAt memcastViewCreate; do
	echo "$all" | grep -qx "$name" || echo "$name is not exported"
done)"

for cuda in "$CUDA_HOME" /usr/local/cuda; do
	for stub in "$cuda"/lib64/stubs/libcuda.so "$cuda"/targets/*/lib/stubs/libcuda.so; do
		[ -e "$stub" ] && break 2
	done
done
if [ -e "$stub" ]; then
	names=$(mktemp)
	exports "$stub" >"$names"
	# symbols that are newer than CUDA 13.1, or that only macros of cuda.h ask for, or that only
	# the driver's library has
	later='cuMulticastBind(Mem|Addr)_v2|cuGetProcAddress_v2_ptsz|cuMemGetAttribute(_v2)?'
	later="$later|cu(Graphics)?(EGL|GL|VDPAU)[A-Z].*|cuGraphicsResourceGetMappedEglFrame"
	holds are_in_the_toolkits_stub "$(echo "$all" | grep -v '^memcast' | grep -vxFf "$names" |
		grep -vxE "$later" | sed "s|\$| is not in $stub|")"
	rm -f "$names"
else
	skip are_in_the_toolkits_stub "no CUDA toolkit found"
fi

# Symbols with the version that programs ask for, which NVIDIA's runtime has as well
versioned() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort; }
lines=$(sed -nE 's/^(COMPLETE|PARTIAL|UNSUPPORTED)\((\w+).*/\2@@libcudart.so.13/p' \
	lib/cudart/functions.def | sort)
holds runtime_is_its_table "$(versioned "$runtime" | sed 's/$/ is exported/' |
	grep -vxF "$(echo "$lines" | sed 's/$/ is exported/')"
	[ "$(versioned "$runtime" | wc -l)" -eq "$(echo "$lines" | wc -l)" ] ||
		echo "not all are exported")"
theirs=
for cuda in "$CUDA_HOME" /usr/local/cuda; do
	[ ! -e "$cuda/lib64/libcudart.so.13" ] || theirs=$cuda/lib64/libcudart.so.13
done
if [ -n "$theirs" ]; then
	holds runtime_is_the_toolkits "$(versioned "$theirs" | grep -vxF "$(versioned "$runtime")" |
		sed 's/$/ is missing/'; versioned "$runtime" | grep -vxF "$(versioned "$theirs")" |
		sed "s|\$| is not in $theirs|")"
else
	skip runtime_is_the_toolkits "no CUDA toolkit found"
fi

# libnvidia-ml.so.1 exports exactly its table, without versions, as programs ask for NVML's
nvml=${1:-build/lib}/libnvidia-ml.so.1
lines=$(sed -nE 's/^(COMPLETE|PARTIAL|UNSUPPORTED)\((\w+).*/\2/p' lib/nvml/functions.def | sort)
holds nvml_is_its_table "$(versioned "$nvml" | sed 's/$/ is exported/' |
	grep -vxF "$(echo "$lines" | sed 's/$/ is exported/')"
	[ "$(versioned "$nvml" | wc -l)" -eq "$(echo "$lines" | wc -l)" ] ||
		echo "not all are exported")"

# libmemcast exports the functions that its two headers declare, and uses only public functions of
# the driver's library.
array=${1:-build/lib}/libmemcast.so.0
lines=$(sed -nE 's/^CUresult (memcast\w+)\(.*/\1/p' \
	include/memcast/bulk.h include/memcast/group.h | sort)
holds array_is_its_headers "$(exports "$array" | sed 's/$/ is exported/' |
	grep -vxF "$(echo "$lines" | sed 's/$/ is exported/')"
	[ "$(exports "$array" | wc -l)" -eq "$(echo "$lines" | wc -l)" ] ||
		echo "not all are exported"
	echo "$all" | grep -xF "$lines" | sed 's/$/ is in libcuda.so.1 as well/')"
holds array_uses_public_names "$(nm -D --undefined-only "$array" | awk '{ print $2 }' |
	grep -vE '@|^_|^__' | while read -r name; do
		grep -qs "\b$name(" include/cuda/cuda.h include/memcast/*.h ||
			echo "$name is in no header"
	done)"

# memcast-trap.so uses no symbol of libcuda.so.1 except through the pointers that it gets, and
# libcuda.so.1 needs no disassembler.
trap=${1:-build/lib}/memcast-trap.so
holds trap_is_apart "$(exports "$trap" | grep -qx memcast_trap_object || echo "it exports nothing"
	exports "$trap" | grep -vx memcast_trap_object | sed 's/$/ is exported/'
	nm -D --undefined-only "$trap" | awk '{ print $2 }' | grep -E '^(cu[A-Z]|memcast)' |
		sed 's/$/ is used/'
	readelf -d "$library" | grep NEEDED.*Zydis)"

# A toolkit's stub has the driver's soname, and only cu* functions: programs link with the stub and
# memcast's NVML.
temp=$(mktemp -d)
echo 'int cuDriverGetVersion(int *v) { return !v; }' |
	${CC:-gcc} -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$temp/libcuda.so" -x c -
holds nvml_links_beside_a_stub "$(
	echo 'int nvmlInit_v2(void); int main(void) { return nvmlInit_v2(); }' |
	${CC:-gcc} -o "$temp/program" -x c - -L"$temp" -L"${1:-build/lib}" -Wl,--no-as-needed \
	-lcuda \
		-lnvidia-ml 2>&1)"
rm -rf "$temp"
exit $failed
