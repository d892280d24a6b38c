#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: folders use each other only as direction.txt says, by #include
# and by symbol, headers declare what their own folder defines, and docs/architecture.md draws that.
# Usage: host-direction.sh           test
#        host-direction.sh --draw    put the drawings into docs/architecture.md
#        host-direction.sh --uses    print which folder uses which symbols of which
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
table=selftests/source/direction.txt
docs=docs/architecture.md
export LC_ALL=C

roots() { sed -n 's|^\([a-z]*\)/[^:]*:.*|\1|p' $table | sort -u; }
sources() { find "$1" -name '*.[ch]' | sort; }

# built ROOT: prints the build folders that have an object of each source, none older than its
# source
built() {
	local folder source object
	for folder in build build/kmod-*; do
		[ -d "$folder/$1" ] || continue
		for source in $(sources "$1" | grep '\.c$'); do
			object=$folder/${source%.c}.o
			[ -e "$object" ] && [ ! "$object" -ot "$source" ] || continue 2
		done
		echo "$folder"
	done
}

# declared HEADER…: prints "declares HEADER SYMBOL" for each function and variable, except those
# that a macro declares
declared() {
	awk '
	FNR == 1 { statement = ""; macro = comment = 0 }
	{
		line = ""
		for (rest = $0; rest != ""; comment = !comment) {
			at = index(rest, comment ? "*/" : "/*")
			line = line (comment ? " " : substr(rest, 1, at ? at - 1 : length(rest)))
			if (!at)
				break
			rest = substr(rest, at + 2)
		}
		continued = macro
		macro = (macro || line ~ /^[ \t]*#/) && line ~ /\\$/
		if (continued || line ~ /^[ \t]*#/)
			next
		statement = statement " " line
		while (gsub(/\{[^{}]*\}/, "", statement))
			;
		if (statement ~ /\{/ || line !~ /[;}][ \t]*$/)
			next
		gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)|__printf\([^()]*\)/, "", statement)
		sub(/^[ \t]+/, "", statement)
		if (statement ~ /^(static|typedef)/)
			;
		else if (statement ~ /^extern/ && match(statement, /\(\*[A-Za-z_0-9]+/))
			print "declares", FILENAME, substr(statement, RSTART + 2, RLENGTH - 2)
		else if (match(statement, /[A-Za-z_0-9]+ *\(/))
			print "declares", FILENAME, substr(statement, RSTART, RLENGTH - 1)
		else if (sub(/^extern/, "", statement))
			for (i = split(statement, name, /[,;]/); i; i--) {
				sub(/\[.*/, "", name[i])
				if (match(name[i], /[A-Za-z_0-9]+ *$/))
					print "declares", FILENAME, substr(name[i], RSTART)
			}
		statement = ""
	}' "$@"
}

# facts ROOT: prints lines "include FILE HEADER", "declares HEADER SYMBOL", "defines FILE SYMBOL"
# and "needs FILE SYMBOL"
facts() {
	local folder source
	sources "$1" | sed 's/^/source /'
	declared $(sources "$1" | grep '\.h$')
	sources "$1" | xargs grep -E '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' |
		sed -E 's/^([^:]*):[^"]*"([^"]*)".*/include \1 \2/'
	for folder in $(built "$1"); do
		for source in $(sources "$1" | grep '\.c$'); do
			nm "$folder/${source%.c}.o" | awk -v file="$source" '
				NF == 3 && $2 ~ /[A-TV-Z]/ { print "defines", file, $3 }
				NF == 2 && $1 ~ /[Uw]/	   { print "needs", file, $2 }'
		done
	done | sort -u
}

# judge WHAT ROOT: prints violations of the table; WHAT is table, include, symbol, header, circle or
# uses
judge() {
	facts "$2" | awk -v what="$1" -v root="$2" '
	function folder_of(file) {
		do
			sub(/\/[^\/]*$/, "", file)
		while (!(file in place) && file ~ /\//)
		return file
	}
	# the separately linked folder that has the file, or nothing
	function library_of(file,   i) {
		for (i = 1; i <= libraries; i++)
			if (index(file, library[i] "/") == 1)
				return library[i]
		return ""
	}
	# the file of the same root that an #include in FILE means, or nothing
	function header(file, name,   here, own, other, i) {
		here = file
		sub(/[^\/]*$/, name, here)
		if (here in is_source)
			return here
		own = library_of(file)
		for (i = 1; i <= sources; i++) {
			if (substr(source[i], length(source[i]) - length(name)) != "/" name)
				continue
			if (library_of(source[i]) == own)
				return source[i]
			if (other == "" && library_of(source[i]) == "")
				other = source[i]
		}
		return other
	}
	# the file that defines what FILE needs: in its own library, or in the main one
	function definer_of(file, name) {
		if ((library_of(file), name) in definer)
			return definer[library_of(file), name]
		return ("", name) in definer ? definer["", name] : ""
	}
	function uses(file, other, how,   from, to) {
		if (other == "" || other == file)
			return
		from = folder_of(file)
		to = folder_of(other)
		if (from == to) {
			if (how ~ /^symbol/)
				edge[file] = edge[file] " " other
			return
		}
		used[from, to] = used[from, to] " " how
		if (!((from, to) in may) && how ~ "^" what)
			print file " uses " other " (" how "), but " from " is not to use " to
	}
	# A name with a capital belongs to a public interface, and a header of include/ declares it.
	function declared(file, name,   definer_file, own) {
		definer_file = definer_of(file, name)
		own = library_of(definer_file)
		if (definer_file == "" || definer_file == file || name ~ /[A-Z]/ ||
		    (own, name) in header_of)
			return
		print file " uses " name " of " definer_file ", which no header declares"
	}
	function could_be_static(file, name) {
		if (name !~ /[A-Z]/ && !(name in needed) && (library_of(file), name) in header_of)
			print file " defines " name " for others, and no other file uses it"
	}
	function beside(file, name,   definer_file) {
		header_of[library_of(file), name] = file
		definer_file = definer_of(file, name)
		if (definer_file != "" && folder_of(definer_file) != folder_of(file))
			print file " declares " name ", which " definer_file " defines"
	}
	# Tarjan: finds the files that reach each other
	function visit(file,   n, i, next_file, list, circle) {
		seen[file] = low[file] = ++visits
		stack[++depth] = file
		on_stack[file] = 1
		n = split(edge[file], list)
		for (i = 1; i <= n; i++) {
			next_file = list[i]
			if (!(next_file in seen))
				visit(next_file)
			if (on_stack[next_file] && low[next_file] < low[file])
				low[file] = low[next_file]
		}
		if (low[file] != seen[file])
			return
		do {
			next_file = stack[depth--]
			on_stack[next_file] = 0
			circle = circle " " next_file
			if (!(next_file in excused))
				bad[file] = 1
		} while (next_file != file)
		if (bad[file] && file " " != substr(circle, 2) " " && split(circle, list) > 1)
			print "use each other in a circle:" circle
	}
	FILENAME != "-" {
		if (/^#/ || /^$/)
			next
		if ($1 == "circle") {
			for (i = 2; i <= NF && $i != "-"; i++)
				excused[$i] = 1
			if (i >= NF && what == "table")
				print "no reason why: " $0
			next
		}
		if ($1 == "one-way") {
			one_way[++ways] = $2
			next
		}
		if ($1 == "headers") {
			is_complete[$2]
			next
		}
		if ($1 == "library") {
			library[++libraries] = $2
			next
		}
		name = $1
		sub(/:$/, "", name)
		if (name !~ "^" root "(/|$)")
			next
		for (i = 2; i <= NF && $i != "-"; i++) {
			if (!($i in place) && what == "table")
				print name " names " $i ", which is not above it"
			may[name, $i] = 1
		}
		if (i >= NF && what == "table")
			print name " does not say what it offers"
		place[name] = ++places
		order[places] = name
		next
	}
	$1 == "source" {
		is_source[$2] = 1
		source[++sources] = $2
		folder = $2
		sub(/\/[^\/]*$/, "", folder)
		full[folder_of($2)] = 1
		if (what == "table" && !(folder_of($2) in place) && !told[folder]++)
			print folder " is not in the table"
	}
	$1 == "include" { includes[++n_include] = $2 " " $3 }
	$1 == "declares" { declares[++n_declares] = $2 " " $3 }
	$1 == "defines" { definer[library_of($2), $3] = $2 }
	$1 == "needs"	{ needs[++n_needs] = $2 " " $3 }
	END {
		for (name in place)
			if (what == "table" && !full[name])
				print name " has no files"
		for (i = 1; i <= n_include; i++) {
			split(includes[i], part)
			uses(part[1], header(part[1], part[2]), "include " part[2])
		}
		for (i = 1; i <= n_needs; i++) {
			split(needs[i], part)
			uses(part[1], definer_of(part[1], part[2]), "symbol " part[2])
		}
		if (what == "symbol" && !n_needs)
			print "no build has an object of each source of " root \
				"/ that is not older than it"
		if (what == "symbol" && n_needs)
			for (pair in may)
				if (!(pair in used)) {
					split(pair, part, SUBSEP)
					print part[1] " names " part[2] ", and uses nothing of it"
				}
		if (what == "header") {
			for (i = 1; i <= n_declares; i++) {
				split(declares[i], part)
				beside(part[1], part[2])
			}
			for (i = 1; root in is_complete && i <= n_needs; i++) {
				split(needs[i], part)
				declared(part[1], part[2])
				needed[part[2]]
			}
			for (pair in definer) {
				split(pair, part, SUBSEP)
				if (root in is_complete && n_needs)
					could_be_static(definer[pair], part[2])
			}
		}
		if (what == "circle")
			for (i = 1; i <= sources; i++)
				for (w = 1; w <= ways; w++)
					if (index(source[i], one_way[w] "/") == 1 &&
					    !(source[i] in seen))
						visit(source[i])
		if (what == "uses")
			for (i = 1; i <= places; i++)
				for (j = 1; j <= places; j++)
					if ((order[i], order[j]) in used)
						print order[i] " -> " order[j] ":" \
							used[order[i], order[j]]
	}' $table - || echo 'awk has failed'
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

case ${1-} in
--uses)
	for root in $(roots); do judge uses "$root"; done
	exit ;;
--draw)
	for root in $(roots); do
		first="<!-- host-direction.sh --draw: $root -->" last="<!-- end of $root -->"
		framed "$root" >"$docs.new" &&
		sed -i -e "/^$first/,/^$last/{ /^<!-- end/!d }" \
			-e "/^$last/{ r $docs.new
			d }" $docs
		rm -f "$docs.new"
	done
	exit ;;
esac

plan direction "$(($(roots | wc -l) * 6))"
for root in $(roots); do
	holds "$root.table" "$(judge table "$root")"
	holds "$root.includes" "$(judge include "$root")"
	holds "$root.calls" "$(judge symbol "$root")"
	holds "$root.headers" "$(judge header "$root")"
	holds "$root.files" "$(judge circle "$root")"
	holds "$root.drawing" "$([ "$(drawn "$root")" = "$(framed "$root")" ] ||
		echo "$docs draws another $root/: $0 --draw")"
done
exit $failed
