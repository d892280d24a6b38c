#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: checks the archive of the source, the Debian packages made from
# it, their files and lintian's verdict, and runs memcast-vm from an unpacked package.
cd "$(dirname "$0")/../.." || exit 1
. selftests/base/tap.sh
version=$(sed -n 's/^PACKAGE_VERSION=//p' dkms.conf)
triplet=$(gcc -print-multiarch)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
root=$temp/root
unset MAKEFLAGS MAKELEVEL

# The archive has all files that it takes to make the same archive once more, also where it is
# unpacked in a repository of something else.
dist() {
	local archive=build/dist/memcast-$version.tar.gz
	make dist && tar -xzf "$archive" -C "$temp" && git init -q "$temp" &&
	make -C "$temp/memcast-$version" dist \
		SOURCE_DATE_EPOCH="$(tar -tvzf "$archive" --full-time |
		awk 'NR == 1 { print $4, $5 }' | date -u -f - +%s)" TZ=UTC &&
	cmp "$archive" "$temp/memcast-$version/$archive"
}

# The package's build dependencies are those of `make deps`; the packages that this list leaves out
# come with build-essential, or only the module needs them.
build_depends() {
	local have missing
	have=$(sed -n '/^Build-Depends:/,/^[A-Z].*:.*[a-z]/p' packaging/debian/control |
		sed 's/ \[.*\]//' | tr -d ' ,')
	missing=$(sed -n '/^deps_build=/,/)/p' tools/memcast-kernel | sed 's/.*=(//; s/)//' |
		xargs -n 1 |
		grep -vxE 'libc6-dev|make|perl|xz-utils|kmod' | grep -vxF "$have")
	[ -z "$missing" ] || { echo "packaging/debian/control lacks $missing"; return 1; }
}

# Recommended packages recommend others in turn, even a desktop's, so the files that people copy
# name the packages that they need.
ready_files() {
	local need file package bad=0
	need=$(sed -n '/^Package: memcast-tools/,/^Suggests/p' packaging/debian/control |
		sed -n '/^Recommends:/,/^Suggests/s/^ \([a-z0-9-]*\).*/\1/p' | grep -vx apt)
	[ "$(echo "$need" | wc -l)" -ge 7 ] || { echo "recommended is only: $need"; return 1; }
	for file in packaging/Dockerfile packaging/ci/github.yml packaging/ci/gitlab.yml; do
		for package in $need; do
			grep -qw -- "$package" "$file" || { echo "$file lacks $package"; bad=1; }
		done
		! grep -n 'apt-get install' "$file" | grep -v -- --no-install-recommends || bad=1
	done
	# the jobs have KVM, and an ordinary user may write to /dev/kvm
	grep -q '^ *options: --device /dev/kvm$' packaging/ci/github.yml &&
		grep -q 'chmod 666 /dev/kvm' packaging/ci/github.yml &&
		grep -q 'chmod 666 /dev/kvm' packaging/ci/gitlab.yml ||
		{ echo "KVM is missing"; bad=1; }
	# YAML takes a command with a colon and a space for a table
	! grep -nE "^ +- [^|'\"].*: " packaging/ci/gitlab.yml | grep -v -- '- RUNNER: ' || bad=1
	return $bad
}

# The command that the rules' comment suggests triggers all devices that the rules are for.
udev_trigger() {
	local subsystem
	for subsystem in $(grep -v '^#' packaging/60-memcast.rules |
		grep -oP 'SUBSYSTEM=="\K[^"]*' | sort -u); do
		grep -q "^#.*udevadm trigger .*--subsystem-match=$subsystem\b" \
			packaging/60-memcast.rules ||
			{ echo "trigger leaves out $subsystem" >&2; return 1; }
		echo "$subsystem"
	done >"$temp/subsystems"
	[ "$(xargs <"$temp/subsystems")" = "memcast-host misc" ] ||
		{ cat "$temp/subsystems"; return 1; }
}

# Each file is in one package, the right one, and no file is where NVIDIA's would be.
contents() {
	local deb
	for deb in build/deb/*.deb; do
		case $deb in *-dbgsym_*) continue ;; esac
		dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v '/$' |
			sed "s|^\.|${deb##*/}|; s|_[^/]*/|: /|"
	done | sort >"$temp/contents"
	! cut -d' ' -f2 "$temp/contents" | grep -v '/usr/share/doc/' | sort | uniq -d | grep . &&
	! grep -E "lib(cuda|cudart|nvidia-ml)\.so" "$temp/contents" |
	grep -v "/usr/lib/$triplet/memcast/" &&
	! grep -E '/usr/include/(cuda|nvml|driver_types)' "$temp/contents" || return 1
	while read -r line; do
		grep -qxF "$line" "$temp/contents" || { echo "missing: $line"; return 1; }
	done <<-END
	memcast-dkms: /usr/src/memcast-$version/dkms.conf
	memcast-dkms: /usr/src/memcast-$version/Kbuild
	memcast-dkms: /usr/share/man/man4/memcast.4.gz
	memcast-tools: /usr/share/memcast/memcast-smi.schema.json
	memcast-tools: /usr/share/memcast/memcast-smi-topo.schema.json
	$(cd "build/deb/memcast-$version" &&
		find kmod -type f | sed "s|^|memcast-dkms: /usr/src/memcast-$version/|")
	$(cd build/lib && printf "libmemcast-cuda1: /usr/lib/$triplet/memcast/%s\n" lib*.so.[0-9]*)
	libmemcast-cuda-dev: /usr/include/memcast/view.h
	libmemcast-cuda-dev: /usr/include/memcast/cuda/cuda.h
	libmemcast-cuda-dev: /usr/include/memcast/nvml/nvml.h
	libmemcast-cuda-dev: /usr/share/memcast/clang/cuda.cfg
	libmemcast-cuda-dev: /usr/share/man/man3/memcastViewCreate.3.gz
	libmemcast-cuda-dev: /usr/lib/$triplet/pkgconfig/memcast.pc
	$(ls tools build/tools | grep -E '^memcast-[a-z]+$' | sort -u |
		sed 's|.*|memcast-tools: /usr/bin/&\nmemcast-tools: /usr/share/man/man1/&.1.gz|')
	END
}

# --allow-root, as continuous integration runs as root in a machine of its own
lintian_silent() {
	lintian --allow-root --fail-on error,warning build/deb/*.changes >"$temp/lintian" 2>&1 ||
		{ cat "$temp/lintian"; return 1; }
	! grep '^[EW]:' "$temp/lintian"
}

# Packages are only unpacked: installing them takes a system of their own (packages-by-hand.sh).
unpacked() {
	local deb flags
	mkdir "$root"
	for deb in build/deb/*.deb; do dpkg-deb -x "$deb" "$root" || return 1; done
	flags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root/usr/lib/$triplet/pkgconfig \
		pkg-config --cflags --libs memcast libmemcast) || return 1
	# shellcheck disable=SC2086	# words of a command
	gcc -I"$root/usr/include" -o "$temp/two-ranks" examples/two-ranks.c $flags &&
	"$root/usr/bin/memcast-run" "$temp/two-ranks" &&
	[ "$("$root/usr/bin/memcast-run" ldd "$root/usr/bin/memcast-smi" |
		grep -c "$root")" -ge 2 ] &&
	ldd "$root/usr/bin/memcast-smi" | grep "libcuda.so.1 => .*/memcast/"
}

# Runs a program with kernels from the ordinary cache, and a new cache for the rest.
machine() {
	mkdir "$temp/cache"
	ln -s "$(dirname "$(tools/memcast-kernel path 6.12 | sed -n "s/^vmlinuz='\(.*\)'/\1/p")")" \
		"$temp/cache/6.12"
	(cd "$temp" && MEMCAST_CACHE=$temp/cache PATH=$root/usr/bin:/usr/bin:/bin \
		memcast-vm --devices 2 --pool-mib 16 -- memcast-smi | tee "$temp/smi" &&
		grep -q '16 MiB' "$temp/smi" && [ ! -e "$temp/build" ])
}

# job FILE: prints the commands that the job runs as an ordinary user
job() {
	awk "/'\$/ && said { exit } said { sub(/^ +/, \"\"); print } /su tester -c '\$/ { said = 1 }" "$1"
}

# Runs the jobs' last steps, as written, with the unpacked packages, for a project with one test.
ready_jobs() {
	local folder=$temp/project
	mkdir -p "$folder/tests" "$folder/.memcast/cache" &&
		ln -s "$(readlink "$temp/cache/6.12")" "$folder/.memcast/cache/6.12"
	cat >"$folder/tests/my-test.c" <<-END
		#include <cuda.h>
		#include <stdio.h>
		int main(int argc, char **argv)
		{
			FILE *report = argc == 3 ? fopen(argv[2], "w") : NULL;
			int count = 0;
			return !report || cuInit(0) || cuDeviceGetCount(&count) ||
			       fprintf(report, "<testsuite tests=\"%d\"/>\n", count) < 0;
		}
	END
	job packaging/ci/gitlab.yml >"$temp/job" && grep -q memcast-vm "$temp/job" &&
		job packaging/ci/github.yml | diff "$temp/job" - &&
		(cd "$folder" && PATH=$root/usr/bin:/usr/bin:/bin PKG_CONFIG_SYSROOT_DIR=$root \
			PKG_CONFIG_PATH=$root/usr/lib/$triplet/pkgconfig sh -ex "$temp/job") &&
		grep -qx '<testsuite tests="4"/>' "$folder/reports/junit.xml"
}

plan packages 11
dist >"$temp/said" 2>&1
result dist $?
build_depends >"$temp/said" 2>&1
result build_depends $?
ready_files >"$temp/said" 2>&1
result ready_files $?
udev_trigger >"$temp/said" 2>&1
result udev_trigger $?
if udevadm verify --help >/dev/null 2>&1; then
	udevadm verify --no-summary packaging/60-memcast.rules >"$temp/said" 2>&1
	result udev_rule $?
else
	skip udev_rule 'no udevadm here that has verify (systemd 254)'
fi
if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh_dkms >/dev/null; then
	for name in build contents lintian unpacked machine ready_jobs; do
		skip $name "no debhelper here: apt-get install build-essential debhelper dh-dkms"
	done
	exit $failed
fi
make deb >"$temp/said" 2>&1
result build $?
contents >"$temp/said" 2>&1
result contents $?
if command -v lintian >/dev/null; then
	lintian_silent >"$temp/said" 2>&1
	result lintian $?
else
	skip lintian 'no lintian here: apt-get install lintian'
fi
unpacked >"$temp/said" 2>&1
result unpacked $?
if tools/memcast-kernel path 6.12 >/dev/null 2>&1; then
	machine >"$temp/said" 2>&1
	result machine $?
	ready_jobs >"$temp/said" 2>&1
	result ready_jobs $?
else
	skip ready_jobs 'no kernel in the cache: tools/memcast-kernel fetch 6.12'
	skip machine 'no kernel in the cache: tools/memcast-kernel fetch 6.12'
fi
exit $failed
