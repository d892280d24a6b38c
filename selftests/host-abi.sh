#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: our cuda.h against a CUDA toolkit's, where one
# is found. Every enum value, and the size and every offset of every struct that
# ours has, are printed by one program, compiled with either header.
cd "$(dirname "$0")/.." || exit 1

echo "TAP version 13"
echo "1..1"
for cuda in "$CUDA_HOME" /usr/local/cuda; do
	[ -e "$cuda/include/cuda.h" ] && break
	cuda=
done
if [ -z "$cuda" ] || [ "$cuda/include/cuda.h" -ef include/cuda.h ]; then
	echo "ok 1 abi.cuda_h # SKIP no CUDA toolkit found"
	exit 0
fi
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT

perl -0777 -ne '
	s{/\*.*?\*/}{}gs; s{//.*}{}g; s{^\s*#.*?(?<!\\)$}{}gms;
	print "#include <cuda.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n";
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
				push @found, fields(substr($inner, 1, -1), $name ? "$path$name." : $path);
			} elsif ($field =~ /(\w+)\s*(?:\[[^]]*\])?\s*$/) {
				push @found, "$path$1";
			}
		}
		return @found;
	}
	while (/typedef\s+(?:struct|union)\s+\w*\s*($braces)\s*(\w+)\s*;/g) {
		my ($body, $type) = ($1, $2);
		print "printf(\"sizeof $type %zu\\n\", sizeof($type));\n";
		print "printf(\"$type.$_ %zu\\n\", offsetof($type, $_));\n"
			for fields(substr($body, 1, -1), "");
	}
	print "return 0;\n}\n";
' include/cuda.h >"$temp/print.c"

for header in include "$cuda/include"; do
	${CC:-gcc} -w -I"$header" -o "$temp/print" "$temp/print.c" 2>"$temp/errors" &&
		"$temp/print" >"$temp/$(echo "$header" | tr -c 'a-z\n' _)" || {
		sed 's/^/# /' "$temp/errors"
		echo "not ok 1 abi.cuda_h # it does not compile with $header/cuda.h"
		exit 1
	}
done
ours=$temp/include
theirs=$temp/$(echo "$cuda/include" | tr -c 'a-z\n' _)
echo "# $(wc -l <"$ours") values, sizes and offsets, against $cuda/include/cuda.h"
if [ "$(wc -l <"$ours")" -gt 300 ] && diff "$ours" "$theirs" >"$temp/diff"; then
	echo "ok 1 abi.cuda_h"
else
	sed 's/^/# /' "$temp/diff"
	echo "not ok 1 abi.cuda_h"
	exit 1
fi
