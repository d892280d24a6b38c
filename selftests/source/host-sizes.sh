#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: a folder has at most twelve files, and a file at most 400 lines.
# Tables may be longer, and so may public headers, which describe every function. The top folder has
# nothing but what is listed here.
cd "$(dirname "$0")/../.." || exit 1
. selftests/script/tap.sh
folders=(kmod lib include selftests tools examples packaging docs profiles)

top='.ci .editorconfig .gitignore CHANGELOG.md CONTRIBUTING.md Kbuild LICENSES Makefile README.md
	dkms.conf'

plan sizes 3
holds folders "$(find "${folders[@]}" -type f ! -name '*.pyc' -printf '%h\n' | sort | uniq -c |
	awk '$1 > 12 { print $2 " has " $1 " files" }')"
holds files "$(find "${folders[@]}" Makefile Kbuild -type f ! -path 'include/*' \( -name '*.[ch]' \
	-o -name '*.sh' -o -name '*.awk' -o -name '*.py' -o -name '*.mk' -o -name Makefile \
	-o -name Kbuild -o -path 'tools/*' \) \
	-exec awk 'FNR == 401 { print FILENAME " has more than 400 lines" }' {} +)"
if [ -e .git ]; then
	holds top "$(git ls-files | cut -d/ -f1 | sort -u |
		grep -vxF "$(printf '%s\n' $top "${folders[@]}")")"
else
	skip top "this is no clone"
fi
exit $failed
