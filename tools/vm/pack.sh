# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Makes the file system of memcast-vm's machine: two cpio archives, one after
# the other. The first never changes, the second has what this run needs. Used
# by memcast-vm only, with its variables: stage, temp, base, build, libraries,
# modules, release, command, add, settings, params, here, host.

# Makes the archive that never changes: folders, users, busybox under all its names
make_base() {
	local root=$temp/base dir
	[ ! "$base" -nt "$build/tools/vm-init" ] || [ ! "$base" -nt "${BASH_SOURCE[0]}" ] ||
		return 0
	mkdir -p "$root"/{dev,proc,sys,run,root,etc,home,var,usr/{bin,sbin,lib,lib64}}
	for dir in bin sbin lib lib64; do ln -s "usr/$dir" "$root/$dir"; done
	mkdir -m 1777 "$root/tmp"
	cp "$build/tools/vm-init" "$root/init"
	cp "$sysroot$(type -P busybox)" "$root/usr/bin/busybox"
	busybox --list | grep -vx busybox | (cd "$root/usr/bin" && xargs -n 1 ln -s busybox)
	printf '%s\n' root:x:0:0:root:/root:/bin/sh user:x:1000:1000:user:/tmp:/bin/sh \
		>"$root/etc/passwd"
	printf '%s\n' root:x:0: tty:x:5: user:x:1000: >"$root/etc/group"
	echo 127.0.0.1 localhost memcast >"$root/etc/hosts"
	(cd "$root" && find . | sort | cpio -o -H newc --quiet -R 0:0) >"$base.$$"
	mv "$base.$$" "$base"
}

# Top folders that are links on the host are links in the machine, too
make_stage() {
	local dir
	mkdir "$stage"
	for dir in bin sbin lib lib64; do
		mkdir -p "$stage/usr/$dir"
		if [ -L "/$dir" ]; then ln -s "usr/$dir" "$stage/$dir"; fi
	done
}

# pack FILE [DEST]: links are followed when the archive is written
pack() {
	local dest=$stage/${2:-$1}
	if [ -d "$1" ]; then
		# Real folders, so that no file is ever written through a link.
		mkdir -p "$dest"
		cp -rsn "$(readlink -f "$1")/." "$dest/"
	elif [ ! -e "$dest" ]; then
		mkdir -p "${dest%/*}"
		ln -s "$(readlink -f "$1")" "$dest"
	fi
}

# Packs a library, and files that are loaded with it although ldd does not name them
pack_library() {
	local name=${1##*/} dir=${1%/*} file
	pack "$1"
	# The machine's processor may not be the host's: its loader may take any variant.
	dir=${dir%/glibc-hwcaps/*}
	for file in "$dir/$name" "$dir"/glibc-hwcaps/*/"$name"; do
		[ ! -e "$file" ] || pack "$file"
	done
	# pthread_exit() and pthread_cancel() open libgcc_s.
	if [ "$name" = libc.so.6 ] && [ -e "$dir/libgcc_s.so.1" ]; then
		pack "$dir/libgcc_s.so.1"
	fi
}

# Prints LD_LIBRARY_PATH for ldd here and for programs in the machine: memcast's folder is first
library_path() { echo "$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"; }

# Packs the files that a program needs to start: its libraries, or its interpreter
pack_needs() {
	local file=$1 magic interpreter word lib
	IFS= read -r -n 4 magic <"$file" 2>/dev/null || true
	case $magic in
	$'\177ELF')
		[ -z "$sysroot" ] || { pack_foreign "$file"; return; }
		while read -r lib; do
			[[ $lib != *'not found'* ]] ||
				die "$file needs ${lib%% *}, which is not found"
			[[ ! $lib =~ (/[^ ]+) ]] || pack_library "${BASH_REMATCH[1]}"
		done < <(LD_LIBRARY_PATH=$(library_path) ldd "$file" 2>/dev/null |
			 grep -E '=> not found|/' || true) ;;
	'#!'*)
		read -r interpreter <"$file"
		[ -z "$sysroot" ] || return 0	# the machine's busybox is all there is
		for word in ${interpreter#'#!'}; do
			if word=$(type -P -- "$word") && [ -f "$word" ]; then
				pack "$word"
				pack_needs "$word"
			fi
		done ;;
	esac
}

# Says before the boot that the program, or one among its arguments, has NVIDIA's static runtime.
note_static_runtime() {
	local word
	for word in "${command[@]}"; do
		if [[ ${word##*/} != *.so* ]] && [ -f "$word" ] && grep -aqF cuGetExportTable "$word" &&
		   grep -aqF cudaErrorCudartUnloading "$word"; then
			say "${word##*/} has NVIDIA's static runtime, which does not work on memcast:" \
				"build it with nvcc --cudart shared (docs/stack/runtime.md)"
		fi
	done
}

# Finds the program's file. memcast's own tools are found without their folder; nvidia-smi is the
# machine's, if this computer has none.
find_program() {
	local program
	if [ "${command[0]}" = nvidia-smi ] && [ -n "$module" ] && ! type -P nvidia-smi >/dev/null; then
		command[0]=/memcast-vm/nvidia/nvidia-smi
	else
		program=$(PATH=$PATH:$build/tools:$here type -P -- "${command[0]}") || true
		if [ -z "$program" ] || [ ! -f "$program" ]; then
			case ${command[0]} in
			build/*|"$build"/*) die "no ${command[0]} yet; run: make" ;;
			*) die "no program '${command[0]}' on this machine" ;;
			esac
		fi
		command[0]=$(realpath -s -- "$program")
		[ -z "$sysroot" ] || check_foreign "${command[0]}"
	fi
	note_static_runtime
}

# Has the program, or a file among its arguments, device code? It is in a section of programs of nvcc,
# and PTX names its target.
has_device_code() {
	local word
	for word in "${command[@]}"; do
		[ ! -f "$word" ] || ! grep -aqF -e .nv_fatbin -e '.target sm_' "$word" || return 0
	done
	return 1
}

# Packs the program, files among its arguments, files of --add, and memcast's libraries
pack_program() {
	local word from to file
	find_program
	for word in "${command[@]}"; do
		[ ! -f "$word" ] || { pack "$(realpath -s -- "$word")"; pack_needs "$word"; }
	done
	for word in "${add[@]}"; do
		from=${word%%:*}
		[ -e "$from" ] || die "--add: there is no $from"
		to=${word#"$from"} to=${to#:}
		pack "$from" "$(realpath -ms "${to:-$from}")"
		while IFS= read -r -d '' file; do
			pack_needs "$file"
		done < <(find -L "$from" -type f \( -perm /111 -o -name '*.so*' \) -print0)
	done
	# By this cache the loader finds libraries in folders that only /etc/ld.so.conf names.
	# If a library in the cache is not packed, the loader searches the usual folders.
	[ ! -e /etc/ld.so.cache ] || [ -n "$sysroot" ] || pack /etc/ld.so.cache
	# Programs load these with dlopen(), which ldd does not see.
	for file in libcuda.so.1 libcudart.so.13 libnvidia-ml.so.1 libmemcast.so.0 \
		    memcast-trap.so $(! has_device_code || echo memcast-ptx.so); do
		file=$libraries/$file
		[ ! -e "$file" ] || { pack "$file"; pack_needs "$file"; }
	done
}

# Packs memcast's tools, for a program to start. memcast-bench is not among them: with libm, which
# most programs do without, it takes more than all that is packed for a small program.
pack_tools() {
	local tool run=$build/tools/memcast-run
	pack "$build/tools/memcast-smi" memcast-vm/memcast-smi	# init runs it, too
	# behind all other folders of PATH, so that NVIDIA's own comes first
	pack "$build/tools/memcast-smi" memcast-vm/nvidia/nvidia-smi
	[ -z "$host" ] || return 0
	for tool in smi perf profile; do
		pack "$build/tools/memcast-$tool" "memcast-vm/memcast-$tool"
		pack_needs "$build/tools/memcast-$tool"
	done
	[ -e "$run" ] || run=$here/memcast-run
	pack "$run" memcast-vm/memcast-run
	# memcast-run reads the folder of the libraries from this file beside itself.
	printf '%s\n' "libraries='..$libraries'" \
		"installed_version='${installed_version:-$("$here/memcast-kernel" --version |
			sed 's/.* //')}'" >"$stage/memcast-vm/installed"
}

# With --host no file is packed: init loads these modules and mounts the host's files.
host_files() {
	local word
	find_program
	compile_ahead
	for word in 9p 9pnet_virtio overlay; do pack_module "$word"; done
	settings+=(host=)
	if [ -z "$root" ]; then
		settings+=("user=$(id -u):$(id -g)")
		for word in $(id -G); do settings+=("group=$word"); done
	fi
	for word in "${rw[@]}"; do settings+=("rw=$(realpath "$word")"); done
}

# Compiles the kernels of the program, and of the libraries that it is linked with, into the user's
# folder, where the machine finds them: an emulated processor takes minutes for seconds of this one.
# An emulated x86 has no more than x86-64-v3. A file in the folder says that this was done.
compile_ahead() {
	local word file done settings=() files=() target=--target=x86-64-v3
	[ -z "$icount" ] && [ -x "$build/tools/memcast-ptx" ] && [ -e "$libraries/memcast-ptx.so" ] ||
		return 0
	for word in ${MEMCAST_PTX+"MEMCAST_PTX=$MEMCAST_PTX"} "${env[@]}"; do
		[ "$word" != MEMCAST_PTX=0 ] || return 0
		[[ $word != MEMCAST_PTX_* ]] || settings+=("$word")
	done
	for word in "${command[@]}"; do
		[ -f "$word" ] && [ -r "$word" ] || continue
		while IFS= read -r file; do
			! grep -aqF .nvFatBinSegment "$file" 2>/dev/null || files+=("$file")
		done < <(printf '%s\n' "$word"; LD_LIBRARY_PATH=$(library_path) ldd "$word" 2>/dev/null |
			 sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' || true)	# a script has no libraries
	done
	[ ${#files[@]} -gt 0 ] || return 0
	! kvm_works && [ "$arch" = x86 ] || target=
	done=$(env "${settings[@]}" bash -c 'echo "${MEMCAST_PTX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/memcast/ptx}"')
	[[ $done == /* ]] || return 0
	done+=/ahead.$({ echo "$target ${settings[*]}"
		stat -c '%n %s %Y' "$libraries/memcast-ptx.so" "${files[@]}"; } | sha256sum | cut -c1-32)
	[ ! -e "$done" ] || return 0
	# what was not compiled to its end is tried again; a link that another user made is not followed
	if env "${settings[@]}" "$build/tools/memcast-ptx" --quiet --progress --seconds 120 $target \
		"${files[@]}" >&2 && [ -O "${done%/*}" ]; then
		(set -C; : >"$done") 2>/dev/null || true
	fi
}

# Prints the program's environment: with --host that of this script, without the variables of its
# shell and of make; else a small one, which is much the same on all hosts.
environment() {
	local word i all=() seen=' '
	if [ -n "$host" ]; then
		while IFS= read -r -d '' word; do
			case ${word%%=*} in
			LC_ALL|SHLVL|OLDPWD|_|MAKE*|MFLAGS) ;;
			*) all+=("$word") ;;
			esac
		done < <(env -0)
		all+=(PATH="$build/tools:$here:$PATH:/memcast-vm/nvidia" ${lc_all+LC_ALL="$lc_all"}
			LD_LIBRARY_PATH="$(library_path)")
	else
		all=(PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/memcast-vm:/memcast-vm/nvidia
			TERM="${TERM-dumb}" HOME="$([ -n "$root" ] && echo /root || echo /tmp)"
			LD_LIBRARY_PATH="$(library_path)")
	fi
	all+=("${env[@]}")
	# of two values for one name, only the later one
	for ((i = ${#all[@]} - 1; i >= 0; i--)); do
		word=${all[i]%%=*}
		[[ $seen != *" $word "* ]] || continue
		seen+="$word "
		printf '%s\0' "${all[i]}"
	done
}

# Prints the parameters of a module from --param: K=V for memcast, MODULE.K=V for any module. The
# machine is one person's, so its users have no shares of lazy pools.
params_of() {
	local param name
	if [ "$1" = memcast ] && lazy_pools; then printf 'lazy_user_mib=%s ' $((1 << 40)); fi
	for param in "${params[@]}"; do
		name=${param%%=*}
		case $name in
		*.*) name=${name%%.*}
		     if [ "${name//-/_}" = "$1" ]; then printf '%s ' "${param#*.}"; fi ;;
		*)   if [ "$1" = memcast ]; then printf '%s ' "$param"; fi ;;
		esac
	done
}

# Packs a module and the modules it needs, in the order to load them
pack_module() {
	local name=${1//-/_} line file word
	line=$(awk -F: -v name="$name" '{ n = $1; sub(/.*\//, "", n); sub(/\.ko.*/, "", n)
		gsub(/-/, "_", n); if (n == name) { print; exit } }' \
		"$modules/modules.dep" 2>/dev/null) || true
	if [ -z "$line" ]; then
		grep -qsE "/${name//_/[-_]}\.ko" "$modules/modules.builtin" && return
		[ "${2-}" = may-be-missing ] ||
			die "kernel $release has no module $1 (what is built in needs no --modules)"
		return 0
	fi
	for file in $(tr ' ' '\n' <<<"${line/:/ }" | tac); do
		name=${file##*/} name=${name%.ko*}
		word=$(params_of "${name//-/_}")
		name=memcast-vm/modules/$name.ko
		[ ! -e "$stage/$name" ] || continue
		mkdir -p "$stage/memcast-vm/modules"
		case $file in
		*.xz)  xz -dc "$modules/$file" ;;
		*.zst) zstd -dcq "$modules/$file" ;;
		*.gz)  gzip -dc "$modules/$file" ;;
		*)     cat "$modules/$file" ;;
		esac >"$stage/$name"
		settings+=("module=/$name${word:+ $word}")
	done
}

# The same files make the same bytes: with --icount the time to unpack them has to be the same, too.
write_archive() {
	find "$stage" ! -type l -exec touch -d @0 {} +
	(cd "$stage" &&
		find -L . -mindepth 1 \( -path ./bin -o -path ./sbin -o -path ./lib -o \
			-path ./lib64 \) -prune -o -print | sort |
		cpio -o -L -H newc --quiet --reproducible -R 0:0) >"$temp/files.cpio"
	cat "$base" "$temp/files.cpio" >"$temp/initrd"
}
