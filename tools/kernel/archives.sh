# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Part of memcast-kernel: which packages a kernel consists of, and from where apt
# takes them: from the archives that this system's apt is configured for, or else from
# Debian's own, by package lists in the cache, which need no root and leave the system's.

# Debian's releases that have kernels which memcast is tested on; the newest is last.
debian_suites=(bookworm trixie)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# For other processors than this machine's; $arch says which. Its own caches stay as they are.
apt_options=()
use_system() {
	apt_options=()
	[ "$arch" = "$own" ] || apt_options=(-o APT::Architecture="$arch"
		-o APT::Architectures="$arch,$own" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
	[ "$(id -u)" -ne 0 ] || apt_options+=(-o APT::Sandbox::User=root)
}

# system_uri SUITE DEFAULT: the mirror that this system takes a suite from
system_uri() {
	local uri
	uri=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' \
		2>/dev/null | sed -nE "s/^(\S+) $1\$/\1/p" | head -n 1)
	echo "${uri:-$2}"
}

debian_updated=
use_debian() {
	local dir=$cache/apt${arch#"$own"} any newest=${debian_suites[-1]}
	any=$(IFS='|'; echo "(${debian_suites[*]})")
	[ -e "$keyring" ] || die "$1, and Debian's archive needs its keys; run as root:" \
		"apt-get install debian-archive-keyring"
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
	: >"$dir/status"
	cat >"$dir/debian.sources" <<-END
	Types: deb
	URIs: $(system_uri "$any" http://deb.debian.org/debian)
	Suites: ${debian_suites[*]} $newest-backports
	Components: main
	Signed-By: $keyring

	Types: deb
	URIs: $(system_uri "$any-security" http://deb.debian.org/debian-security)
	Suites: ${debian_suites[*]/%/-security}
	Components: main
	Signed-By: $keyring
	END
	apt_options=(-o Dir::Etc::sourcelist="$dir/debian.sources"
		-o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts=/dev/null
		-o Dir::State="$dir/state" -o Dir::State::status="$dir/status"
		-o Dir::Cache="$dir/cache" -o APT::Architecture="$arch"
		-o APT::Architectures="$arch,$own"
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none)
	[ -z "$debian_updated" ] || return 0
	say "$1; reading the lists of Debian's archive, some 30 MB the first time"
	apt-get "${apt_options[@]}" update >"$dir/log" 2>&1 ||
		say "not all of Debian's lists could be read, see $dir/log"
	debian_updated=yes
}

# apt_download DIR PACKAGE…
apt_download() {
	local dir=$1
	shift
	(cd "$dir" && apt-get "${apt_options[@]}" download "$@" >&2)
}

depends() {
	apt-cache "${apt_options[@]}" depends --no-recommends --no-suggests "$1" 2>/dev/null |
		sed -n 's/^ *|\?Depends: //p'
}

# newest NAME: print the newest release of a kernel. An archive may still have the image
# of a kernel whose headers are gone; such a kernel is of no use. If two releases of Debian
# have the series, the kernel of this system's release is taken, as its compiler is here.
newest() {
	local pattern=$1 only=. images
	case $1 in
	*-arm64*)  pattern="${1%%-*}" pattern="${pattern//./\\.}\..*-${1#*-}" ;;
	backports) pattern="[0-9].*-$own" only=-backports/ ;;
	generic)   pattern='[0-9].*-generic' ;;
	*)	   pattern="${1//./\\.}\..*-($own|generic)" ;;
	esac
	mapfile -t images < <(apt-cache "${apt_options[@]}" pkgnames linux-image- 2>/dev/null |
		grep -E "^linux-image-$pattern\$" | grep -vE -- '-(cloud|rt|unsigned)-')
	[ ${#images[@]} -gt 0 ] || return 0
	apt-cache "${apt_options[@]}" madison "${images[@]}" \
		"${images[@]/#linux-image-/linux-headers-}" |
		grep -e "$only" | awk '
			{ release = $1; sub(/^linux-(image|headers)-/, "", release) }
			$1 ~ /^linux-image-/   { image[release] = 1 }
			$1 ~ /^linux-headers-/ { headers[release] = 1 }
			END { for (release in image) if (release in headers) print release }' |
		sort -Vr | awk -v own="+deb$(. /etc/os-release && echo "${VERSION_ID-}")-" '
			NR == 1 || (!found && index($0, own)) {
				newest = $0
				found = index($0, own)
			}
			END { print newest }'
}

# packages_of RELEASE: print the image, the headers, and packages of that kernel which they need
packages_of() {
	local release=$1 queue name need seen=" " version=${1%-*}
	version=${version%-arm64}
	queue=("linux-image-$release" "linux-headers-$release")
	# Ubuntu has drivers that tests use in a package on which no other package depends.
	if apt-cache "${apt_options[@]}" madison "linux-modules-extra-$release" 2>/dev/null |
	   grep -q .; then
		queue+=("linux-modules-extra-$release")
	fi
	while [ ${#queue[@]} -gt 0 ]; do
		name=${queue[0]} queue=("${queue[@]:1}")
		[[ $seen != *" $name "* ]] || continue
		seen+="$name "
		echo "$name"
		for need in $(depends "$name"); do
			case $need in
			linux-image-*) ;;
			# programs that build modules run here
			linux-kbuild-*) queue+=("${need%:*}:$own") ;;
			linux-*"$version"*) queue+=("$need") ;;
			esac
		done
	done
}
