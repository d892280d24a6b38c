#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: `make install` into a folder, an example built against nothing
# but that folder, and `make uninstall`.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
root=$temp/root
# DESTDIR may be relative.
where="DESTDIR=$(realpath -m --relative-to=. "$root") PREFIX=/opt/memcast KERNEL=6.12"
where="$where LIBDIR=/opt/memcast/lib64 CLANGDIR=/opt/memcast/clang LIBEXECDIR=/opt/memcast/libs"

# include_all: prints lines that include each header but those that are for clang only
include_all() {
	ls -- include/memcast/*.h include/cuda/*.h include/nvml/*.h | grep -v /cooperative_groups.h |
		sed -E 's,include/((cuda|nvml)/)?,,' | sed 's/.*/#include <&>/; 1i #include <memcast.h>'
}

build_example() {
	include_all | ${CC:-gcc} -Wall -Wextra -Werror -x c -c -o "$temp/headers.o" $flags - &&
	{ ! command -v g++ >/dev/null || include_all |
		g++ -std=c++17 -Wall -Wextra -Werror -x c++ -c -o "$temp/headers.o" $flags -; } &&
	${CC:-gcc} -o "$temp/two-ranks" examples/two-ranks.c $flags &&
	LD_LIBRARY_PATH=$root/opt/memcast/lib64 "$temp/two-ranks"
}

plan install 9
# shellcheck disable=SC2086	# words of a command
env -u MAKEFLAGS -u MAKELEVEL make install $where >"$temp/said" 2>&1 && rm -r "$root" &&
	(umask 077; env -u MAKEFLAGS -u MAKELEVEL make install $where) >"$temp/said" 2>&1
result install $?
find "$root" ! -type l ! -perm -444 >"$temp/said"
[ ! -s "$temp/said" ]
result all_may_read $?

(cd "$root/opt/memcast" && ls bin/memcast-bench include/memcast/view.h include/memcast.h \
	lib64/libcuda.so.1 lib64/libcudart.so.13 lib64/libnvidia-ml.so.1 \
	share/man/man3/memcastViewCreate.3 \
	lib64/libmemcast.so.0 lib64/memcast-trap.so lib64/pkgconfig/memcast.pc &&
	bin/memcast-vm --version && bin/memcast-kernel --version && bin/memcast-run true &&
	LD_LIBRARY_PATH='' bin/memcast-bench --version &&
	grep -h '^memcast.*-smi .- ' share/man/man1/memcast-smi.1 &&
	cmp lib64/libcuda.so lib64/libcuda.so.1 && cmp lib64/libcudart.so lib64/libcudart.so.13 &&
	cmp lib64/libmemcast.so lib64/libmemcast.so.0 &&
	ls "$root"/lib/modules/*/updates/memcast.ko*) >"$temp/said" 2>&1
result all_is_there $?

# the schemas that the help names
(cd "$root/opt/memcast" && names=$(LD_LIBRARY_PATH='' bin/memcast-smi --help |
	grep -o '[a-z-]*\.schema\.json') &&
	[ "$(echo "$names" | wc -l)" -eq 2 ] && cd share/memcast && ls $names) >"$temp/said" 2>&1
result schemas $?

flags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/opt/memcast/lib64/pkgconfig \
	pkg-config --cflags --libs libmemcast 2>"$temp/said")
result pkg_config $?
build_example >"$temp/said" 2>&1
result example $?

# Files of others stay in folders that distributions have.
touch "$root/opt/memcast/libs/other" "$root/opt/memcast/share/other"
# shellcheck disable=SC2086
env -u MAKEFLAGS -u MAKELEVEL make uninstall $where >"$temp/said" 2>&1 &&
	find "$root" ! -type d >>"$temp/said" && [ "$(find "$root" ! -type d -printf '%f ')" = 'other other ' ]
result uninstall $?

for words in 'DESTDIR=/a b' 'PREFIX=/usr/local /b' 'LIBDIR=/a b' 'LIBEXECDIR=/a /b' 'DATADIR=/a '; do
	env -u MAKEFLAGS -u MAKELEVEL make -n install "$words" KERNEL=none 2>&1 >/dev/null |
		grep -q 'without blanks' || echo "$words is taken"
done >"$temp/said"
[ ! -s "$temp/said" ]
result blanks $?

# Root installs from another user's folder: that user builds.
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	mkdir "$temp/own" && ln -s "$PWD"/* "$temp/own/" && rm "$temp/own/build" &&
		chmod 711 "$temp" && chown 65534 "$temp/own" &&
		env -u MAKEFLAGS -u MAKELEVEL make -C "$temp/own" -n install KERNEL=none \
			>"$temp/said" 2>&1
	grep -q '^setpriv --reuid=65534 .* make lib tools man' "$temp/said"
	result owner_builds $?
else
	skip owner_builds 'needs root and setpriv'
fi
exit $failed
