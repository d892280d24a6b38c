#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: direction.txt has each folder, after those that it uses; the
# compiler refuses headers of other folders; files of one folder use each other in no circle; and
# docs/architecture.md draws the table.
# Usage: host-direction.sh           test
#        host-direction.sh --draw    put the drawings into docs/architecture.md
cd "$(dirname "$0")/../../.." || exit 1
. selftests/base/tap.sh
table=tools/tests/source/direction.txt
docs=docs/architecture.md
export LC_ALL=C

roots() { sed -n 's|^\([a-z]*\)/[^:]*:.*|\1|p' $table | sort -u; }

# wrong_rows ROOT: prints what is wrong with the table's rows
wrong_rows() {
	awk -v root="$1" '
	FILENAME == "-" {
		if (!(($1) in row))
			print $1 " is not in the table"
		files[$1] = 1
		next
	}
	/^#/ || $1 !~ "^" root "/.*:$" { next }
	{
		name = $1
		sub(/:$/, "", name)
		for (i = 2; i <= NF && $i != "-"; i++)
			if (!($i in row))
				print name " names " $i ", which is not above it"
		if (i >= NF)
			print name " does not say what it offers"
		row[name] = 1
	}
	END {
		for (name in row)
			if (!(name in files))
				print name " has no files"
	}' $table - < <(find "$1" -mindepth 2 -name '*.[ch]' | cut -d/ -f1-2 | sort -u)
}

# needs FOLDER: prints "defines FILE SYMBOL" and "needs FILE SYMBOL" of the objects of a build
needs() {
	local build object
	for build in build/kmod-*; do
		for object in $(find "$build/$1" -name '*.o' 2>/dev/null); do
			nm "$object" | awk -v file="${object#"$build/"}" '
				NF == 3 && $2 ~ /[A-TV-Z]/ { print "defines", file, $3 }
				NF == 2 && $1 ~ /[Uw]/	   { print "needs", file, $2 }'
		done
	done | sort -u
}

# circles FOLDER: prints objects of one folder that reach each other, except those that the table
# excuses
circles() {
	needs "$1" | awk '
	function folder_of(file) { sub(/\/[^\/]*$/, "", file); return file }
	# Tarjan: finds the files that reach each other
	function visit(file,   n, i, other, list, circle, bad) {
		seen[file] = low[file] = ++visits
		stack[++depth] = file
		on_stack[file] = 1
		n = split(edge[file], list)
		for (i = 1; i <= n; i++) {
			other = list[i]
			if (!(other in seen))
				visit(other)
			if (on_stack[other] && low[other] < low[file])
				low[file] = low[other]
		}
		if (low[file] != seen[file])
			return
		do {
			other = stack[depth--]
			on_stack[other] = 0
			circle = circle " " other
			bad = bad || !(other in excused)
		} while (other != file)
		if (bad && split(circle, list) > 1)
			print "use each other in a circle:" circle
	}
	FILENAME != "-" {
		for (i = 2; $1 == "circle" && i <= NF && $i != "-"; i++) {
			sub(/\.c$/, ".o", $i)
			excused[$i]
		}
		next
	}
	$1 == "defines" { definer[$3] = $2; file[$2] }
	$1 == "needs"	{ need[++count] = $2 " " $3 }
	END {
		if (!count)
			print "no build of the module has objects"
		for (i = 1; i <= count; i++) {
			split(need[i], part)
			other = definer[part[2]]
			if (other != "" && other != part[1] && folder_of(other) == folder_of(part[1]))
				edge[part[1]] = edge[part[1]] " " other
		}
		for (one in file)
			if (!(one in seen))
				visit(one)
	}' $table -
}

# drawing ROOT: prints its folders; a folder stands above those that it uses
drawing() {
	awk -v root="$1" '
	/^#/ || $1 !~ /:$/ || $1 !~ "^" root "(/|:)" { next }
	{
		name = $1
		sub(/:$/, "", name)
		layer[name] = 0
		for (i = 2; i <= NF && $i != "-"; i++)
			if (layer[$i] >= layer[name])
				layer[name] = layer[$i] + 1
		if (layer[name] > top)
			top = layer[name]
		offers[name] = ""
		for (i++; i <= NF; i++)
			offers[name] = offers[name] " " $i
		order[++n] = name
	}
	END {
		for (l = top; l >= 0; l--) {
			for (i = 1; i <= n; i++)
				if (layer[order[i]] == l)
					printf "    %-14s%s\n", order[i], offers[order[i]]
			if (l)
				print "      ↓"
		}
	}' $table
}

# framed ROOT: prints the drawing between the lines by which it is found
framed() {
	printf '<!-- host-direction.sh --draw: %s -->\n\n' "$1"
	drawing "$1"
	printf '\n<!-- end of %s -->\n' "$1"
}

drawn() { sed -n "/^<!-- host-direction.sh --draw: $1 -->/,/^<!-- end of $1 -->/p" $docs; }

if [ "${1-}" = --draw ]; then
	for root in $(roots); do
		first="<!-- host-direction.sh --draw: $root -->" last="<!-- end of $root -->"
		framed "$root" >"$docs.new" &&
		sed -i -e "/^$first/,/^$last/{ /^<!-- end/!d }" \
			-e "/^$last/{ r $docs.new
			d }" $docs
		rm -f "$docs.new"
	done
	exit
fi

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
unset MAKEFLAGS MAKELEVEL

# refused SOURCE HEADER GOAL…: in a copy of the tree, the source compiles, and does not with that header
refused() {
	local copy=$temp/tree
	if [ ! -e "$copy" ]; then
		mkdir "$copy" && cp -r Makefile Kbuild dkms.conf README.md include lib kmod tools selftests \
			packaging profiles examples "$copy/" || return
	fi
	case $1 in
	kmod/*)	;;	# the module was built by whoever runs this
	*)	make -s -C "$copy" "${@:3}" >"$temp/said" 2>&1 || { cat "$temp/said"; return; } ;;
	esac
	sed -i "1i #include \"$2\"" "$copy/$1"
	if make -s -C "$copy" "${@:3}" >"$temp/said" 2>&1; then
		echo "$1 compiles with $2"
	elif ! grep -q "fatal error: $2: No such file" "$temp/said"; then
		tail -n 5 "$temp/said"
	fi
}

plan direction "$(($(roots | wc -l) * 2 + 4))"
for root in $(roots); do
	holds "$root.table" "$(wrong_rows "$root")"
	holds "$root.drawing" "$([ "$(drawn "$root")" = "$(framed "$root")" ] ||
		echo "$docs draws another $root/: $0 --draw")"
done
for folder in $(sed -n 's/^one-way //p' $table); do holds "$folder.circles" "$(circles "$folder")"; done
holds wrong_include_in_lib "$(refused lib/table/table.c stream/stream.h build/lib/table/table.o)"
holds wrong_include_in_tools "$(refused tools/perf/memcast-perf.c bench/bench.h build/tools/perf/memcast-perf.o)"
holds wrong_include_in_kmod "$(refused kmod/core/account.c map/map.h kmod KERNEL=6.12)"
exit $failed
