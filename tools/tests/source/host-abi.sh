#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: compares memcast's headers with the lists in abi/, and with a
# CUDA toolkit's headers, if one is found. One program, compiled with either header, prints every
# enum value, and the size and every offset of every struct, that memcast's header has; for the
# runtime and NVML also the type of every function.
# Usage: host-abi.sh [--write], which makes the lists anew, once the toolkit's headers have agreed
cd "$(dirname "$0")/../../.." || exit 1

echo "TAP version 13"
echo "1..6"
lists=tools/tests/source/abi
for cuda in "$CUDA_HOME" /usr/local/cuda; do
	[ -e "$cuda/include/cuda.h" ] && break
	cuda=
done
[ "$cuda/include/cuda.h" -ef include/cuda/cuda.h ] && cuda=
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
number=0
failed=0

# print_program HEADER TYPES FILE…: prints a program that prints HEADER's enums, structs and, with
# TYPES yes, functions that the files name
print_program() {
	header=$1 types=$2
	shift 2
	printf '#include <%s>\n#include <stddef.h>\n#include <stdio.h>\n' "$header"
	[ "$types" != yes ] || echo '#include <typeinfo>'
	printf 'int main(void)\n{\n'
	cat "$@" | TYPES=$types perl -0777 -ne '
		s{/\*.*?\*/}{}gs; s{//.*}{}g; s{^\s*#.*?(?<!\\)$}{}gms;
		while (/\benum\b[^{;]*\{([^}]*)\}/g) {
			print "printf(\"$_ %lld\\n\", (long long)$_);\n" for $1 =~ /(?:^|,)\s*(\w+)/g;
		}
		our $braces = qr/\{(?:[^{}]++|(??{$braces}))*\}/;
		sub fields {
			my ($body, $path) = @_;
			my @found;
			while ($body =~ /\s*((?:[^{};]++|$braces)*);/g) {
				my $field = $1;
				if ($field =~ /^\s*(?:struct|union)\b[^{]*($braces)\s*(\w*)/s) {
					my ($inner, $name) = ($1, $2);
					push @found, "$path$name" if $name;
					push @found, fields(substr($inner, 1, -1),
							    $name ? "$path$name." : $path);
				} elsif ($field =~ /(\w+)\s*(?:\[[^]]*\])?\s*$/) {
					push @found, "$path$1";
				}
			}
			return @found;
		}
		sub layout {
			my ($body, $type) = @_;
			print "printf(\"sizeof $type %zu\\n\", sizeof($type));\n";
			print "printf(\"$type.$_ %zu\\n\", offsetof($type, $_));\n"
				for fields(substr($body, 1, -1), "");
		}
		layout($1, $2) while /typedef\s+(?:struct|union)\s+\w*\s*($braces)\s*(\w+)\s*;/g;
		if ($ENV{TYPES} eq "yes") {
			layout($2, $1) while /^struct\s+(cuda\w+)\s*($braces)\s*;/gm;
			print "printf(\"$1 %s\\n\", typeid(&$1).name());\n"
				while /^(?:[a-z][\w *]*[ *])?((?:cuda|nvml)\w+)\(/gm;
		}
	'
	printf 'return 0;\n}\n'
}

# print_with HEADERS LANGUAGE: what $temp/print.c prints, compiled with a folder's headers
print_with() {
	${CC:-gcc} -w -x "$2" -I"$1" -DNVML_NO_UNVERSIONED_FUNC_DEFS -o "$temp/print" \
		"$temp/print.c" -lstdc++ && "$temp/print"
}

# same NAME LIST: is LIST the same as $temp/ours?
same() {
	number=$((number + 1))
	if diff "$temp/ours" "$2" >"$temp/diff"; then
		echo "ok $number abi.$1"
	else
		sed 's/^/# /' "$temp/diff"
		echo "not ok $number abi.$1"
		failed=1
	fi
}

# compare NAME LANGUAGE AT-LEAST FOLDER HEADER: memcast's header in FOLDER, by the program in
# $temp/print.c, with the toolkit's header and with the list
compare() {
	print_with "$4" "$2" >"$temp/ours" 2>"$temp/errors"
	if [ "$(wc -l <"$temp/ours")" -le "$3" ]; then
		sed 's/^/# /' "$temp/errors"
		echo "not ok $((number + 1)) abi.$1 # it prints too little, or does not compile"
		echo "not ok $((number + 2)) abi.$1_toolkit"
		number=$((number + 2))
		failed=1
		return
	fi
	echo "# $(wc -l <"$temp/ours") values, sizes, offsets and types of $5"
	if [ -e "$cuda/include/$5" ]; then
		print_with "$cuda/include" "$2" >"$temp/theirs" 2>>"$temp/theirs"
		same "$1_toolkit" "$temp/theirs"
	else
		number=$((number + 1))
		echo "ok $number abi.$1_toolkit # SKIP no CUDA toolkit with $5 found"
	fi
	[ -z "$write" ] || [ $failed -ne 0 ] || cp "$temp/ours" "$lists/$1.txt"
	same "$1" "$lists/$1.txt"
}

write=
[ "$1" = --write ] && write=yes
print_program cuda.h no include/cuda/cuda.h >"$temp/print.c"
compare cuda_h c 300 include/cuda cuda.h
print_program cuda_runtime_api.h yes include/cuda/driver_types.h include/cuda/cuda_runtime_api.h \
	>"$temp/print.c"
compare cuda_runtime_api_h c++ 700 include/cuda cuda_runtime_api.h
print_program nvml.h yes include/nvml/nvml.h >"$temp/print.c"
compare nvml_h c++ 300 include/nvml nvml.h
exit $failed
