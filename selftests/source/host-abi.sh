#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: compares memcast's headers with a CUDA toolkit's, if one is
# found. One program, compiled with either header, prints every enum value, and the size and every
# offset of every struct, that memcast's header has; for the runtime and NVML also the type of every
# function.
cd "$(dirname "$0")/../.." || exit 1

echo "TAP version 13"
echo "1..3"
for cuda in "$CUDA_HOME" /usr/local/cuda; do
	[ -e "$cuda/include/cuda.h" ] && break
	cuda=
done
if [ -z "$cuda" ] || [ "$cuda/include/cuda.h" -ef include/cuda/cuda.h ]; then
	echo "ok 1 abi.cuda_h # SKIP no CUDA toolkit found"
	echo "ok 2 abi.cuda_runtime_api_h # SKIP no CUDA toolkit found"
	echo "ok 3 abi.nvml_h # SKIP no CUDA toolkit found"
	exit 0
fi
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
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

# compare NUMBER NAME LANGUAGE AT-LEAST FOLDER: compiles the program in $temp/print.c with the header
# of that folder and with the toolkit's, and compares the outputs
compare() {
	for header in "$5" "$cuda/include"; do
		${CC:-gcc} -w -x "$3" -I"$header" -DNVML_NO_UNVERSIONED_FUNC_DEFS -o "$temp/print" \
			"$temp/print.c" -lstdc++ 2>"$temp/errors" &&
			"$temp/print" >"$temp/$(echo "$header" | tr -c 'a-z\n' _)" || {
			sed 's/^/# /' "$temp/errors"
			echo "not ok $1 abi.$2 # it does not compile with $header's"
			failed=1
			return
		}
	done
	ours=$temp/$(echo "$5" | tr -c 'a-z\n' _)
	theirs=$temp/$(echo "$cuda/include" | tr -c 'a-z\n' _)
	echo "# $(wc -l <"$ours") values, sizes, offsets and types, against $cuda/include"
	if [ "$(wc -l <"$ours")" -gt "$4" ] && diff "$ours" "$theirs" >"$temp/diff"; then
		echo "ok $1 abi.$2"
	else
		sed 's/^/# /' "$temp/diff"
		echo "not ok $1 abi.$2"
		failed=1
	fi
}

print_program cuda.h no include/cuda/cuda.h >"$temp/print.c"
compare 1 cuda_h c 300 include/cuda
print_program cuda_runtime_api.h yes include/cuda/driver_types.h include/cuda/cuda_runtime_api.h \
	>"$temp/print.c"
compare 2 cuda_runtime_api_h c++ 700 include/cuda
if [ -e "$cuda/include/nvml.h" ]; then
	print_program nvml.h yes include/nvml/nvml.h >"$temp/print.c"
	compare 3 nvml_h c++ 300 include/nvml
else
	echo "ok 3 abi.nvml_h # SKIP the CUDA toolkit has none"
fi
exit $failed
