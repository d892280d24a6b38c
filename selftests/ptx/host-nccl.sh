#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: NVIDIA's NCCL, where there is one (make NCCL_HOME=…), does its
# collectives by its own kernels in machines; examples/nccl-all-reduce.c checks every value, and
# what NCCL took. Functions that NCCL was built without (ONLY_FUNCS) are left out.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
program=build/examples/nccl-all-reduce

if [ ! -e build/lib/memcast-ptx.so ] || [ ! -x $program ]; then
	plan ptx.nccl 1
	skip collectives 'no memcast-ptx.so, or no NCCL: make NCCL_HOME=/path/to/nccl/build'
	exit 0
fi
library=$(ldd $program | awk '/libnccl/ { print $3 }')
# a folder in which NCCL was built says what was compiled; a package of it has all
table=$(dirname "$(dirname "$library")")/obj/device/gensrc/device_table.cu

# have FUNCTION
have() { [ ! -e "$table" ] || grep -qw "ncclDevFunc_$1" "$table"; }

declare -A short=([float]=f32 [half]=f16 [bfloat16]=bf16 [uint32]=u32)
# reduces COLLECTIVE FUNCTION ALGORITHM PROTOCOL: adds a case for each operation, with the types
# that there are, and sums of floats of up to 1 MiB: one takes up to 20 s on an emulated processor
reduces() {
	local op types
	for op in sum min max; do
		types=
		for type in float half bfloat16 uint32; do
			reduction=MinMax
			[ $op != sum ] || reduction=Sum
			have "$2_${reduction}_${short[$type]}_${3^^}_${4^^}" && types=$types,$type
		done
		[ -z "$types" ] || echo "-c $1 -a $3 -P $4 -o $op -d ${types#,}" >>"$temp/all"
		case $1.$op.$types in
		all_reduce.sum.*float*) echo "-c $1 -a $3 -P $4 -b 1048576 -e 1048576" >>"$temp/all" ;;
		esac
	done
}
# moves COLLECTIVE FUNCTION ALGORITHM PROTOCOL
moves() { ! have "$2_${3^^}_${4^^}" || echo "-c $1 -a $3 -P $4" >>"$temp/all"; }

for how in 'NVLS Simple' {RING,TREE}' '{Simple,LL,LL128}; do
	reduces all_reduce AllReduce $how
	reduces reduce_scatter ReduceScatter $how
	moves all_gather AllGather $how
	moves broadcast Broadcast $how
done
! have SendRecv || echo '-c sendrecv' >>"$temp/all"
# the symmetric ones are always compiled
for kernel in AGxLL_R AGxLLMC_R RSxLD_AGxST RSxLDMC_AGxSTMC; do
	echo "-k AllReduce_$kernel -d float,half,bfloat16" >>"$temp/all"
done
for kernel in LL LD LDMC; do
	echo "-c reduce_scatter -k ReduceScatter_$kernel -d float,half,bfloat16" >>"$temp/all"
done
for kernel in LL LLMC ST STMC; do
	echo "-c all_gather -k AllGather_$kernel" >>"$temp/all"
done

# a rank is killed in the middle of these
for how in 'NVLS Simple' 'RING LL' 'RING Simple' 'TREE LL128'; do
	set -- $how
	! have "AllReduce_Sum_f32_$1_${2^^}" || echo "-a $1 -P $2" >>"$temp/kills"
done
for kernel in RSxLDMC_AGxSTMC AGxLL_R; do
	echo "-k AllReduce_$kernel" >>"$temp/kills"
done

grep -v -e '-o m' "$temp/all" >"$temp/some"
options=(--host --memory 5000 --limit 1000000000 --env NCCL_MAX_CTAS=1 --)
machine 'NCCL, Linux 6.12' "${options[@]}" sh selftests/ptx/nccl_cases.sh $program "$temp/all"
machine 'NCCL, Linux 6.1' --kernel 6.1 "${options[@]}" \
	sh selftests/ptx/nccl_cases.sh $program "$temp/some"
machine 'NCCL, killed ranks' "${options[@]}" \
	sh selftests/ptx/nccl_kills.sh $program "$temp/kills" 20
exit $failed
