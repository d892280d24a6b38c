#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs on the machine that builds: compiled code is kept in a folder, is used from there by the next
# process, and nothing is used that is damaged or that another user could have written.
cd "$(dirname "$0")/../.." || exit 1
. selftests/ptx/object.sh
build_test cache -rdynamic
folder=$temp/a/b
plan ptx.cache 18

# Runs the kernel, whose program says what LLVM makes.
run() { MEMCAST_PTX_CACHE=$folder timeout 100 "$temp/cache" "$object" "${1:-5}" >"$temp/said" 2>&1; }
compiles() { run "$@" && grep -q '^made' "$temp/said"; }
compiles_nothing() { run 5 && ! grep '^made' "$temp/said"; }
files() { find "$folder/" -name '*.o' 2>/dev/null | wc -l; }
last() { find "$folder/" -name '*.o' -printf '%p\n' | sort | tail -1; }

compiles && [ "$(files)" = 2 ] && [ "$(stat -c %a "$folder" "$(last)" | paste -sd' ')" = '700 600' ]
result kept $?
# the folder is listed once, although two functions were stored, and not by the next process
[ "$(grep -c '^looked' "$temp/said")" = 1 ]
result looked $?
touch -d '2 days ago' "$folder"/*.o
compiles_nothing && [ "$(files)" = 2 ] && ! find "$folder" -name '*.o' -mtime +0 | grep .
result used $?
compiles 6 && [ "$(files)" = 4 ] && ! grep '^looked' "$temp/said"
result other_text $?

# a file over the limit ends no program
(ulimit -f 1; compiles 7) && [ "$(files)" = 4 ]
result limited $?

# code with checks is other code, and both stay
export MEMCAST_PTX_CHECK=1
compiles && compiles_nothing && [ "$(files)" = 6 ] && unset MEMCAST_PTX_CHECK && compiles_nothing
result checked $?
unset MEMCAST_PTX_CHECK
for file in "$folder"/*.o; do
	printf '\x5a' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") / 2)) conv=notrunc 2>/dev/null
done
compiles && compiles_nothing
result damaged $?
for file in "$folder"/*.o; do truncate -s 100 "$file"; done
compiles && compiles_nothing
result cut_off $?
for file in "$folder"/*.o; do : >"$file"; done
compiles && compiles_nothing && [ "$(find "$folder/" -name '*.o' -size +1k | wc -l)" = 2 ]
result empty $?
chmod 660 "$folder"/*.o
compiles && compiles_nothing
result writable_file $?
for file in "$folder"/*.o; do
	mv "$file" "$temp/${file##*/}" && ln -s "$temp/${file##*/}" "$file"
done
compiles && compiles_nothing
result link $?

rm -rf "$folder"
mkdir "$folder"
chmod 702 "$folder"
compiles && [ "$(files)" = 0 ]
result writable_folder $?
rmdir "$folder"
mkdir -m 700 "$temp/real"
ln -s "$temp/real" "$folder"
compiles && [ "$(files)" = 0 ]
result linked_folder $?
rm "$folder"

# the oldest file goes when there is no room
mkdir -m 700 "$folder"
old=$folder/$(printf '0%.0s' {1..32}).o young=$folder/$(printf 'f%.0s' {1..32}).o
truncate -s 250M "$old"
truncate -s 7M "$young"
touch -d '2 days ago' "$old"
compiles && [ ! -e "$old" ] && [ -e "$young" ]
result bounded $?
rm -rf "$folder"

# what others keep in the folder does not count, and stays
mkdir -m 700 "$folder"
truncate -s 300M "$folder/mine.o" "$folder/00000000000000000000000000000000.old"
touch -d '2 days ago' "$folder"/*
compiles && compiles_nothing && [ -e "$folder/mine.o" ] &&
	[ -e "$folder/00000000000000000000000000000000.old" ]
result files_of_others $?
rm -rf "$folder"

# of several processes that need the same, one compiles it
for i in 1 2 3 4; do
	MEMCAST_PTX_CACHE=$folder timeout 100 "$temp/cache" "$object" 5 >"$temp/said.$i" 2>&1 &
done
good=0
for i in 1 2 3 4; do wait -n || good=1; done
made=$(cat "$temp"/said.* | grep -c '^made')	# the kernel and the function
[ $good = 0 ] && [ "$made" = 2 ] && [ "$(files)" = 2 ] && ! compgen -G "$folder/*.o.*" >"$temp/said"
result together $?

# one that never ends to compile, as it was stopped, is waited for, but not for ever
rm -rf "$folder"
MEMCAST_PTX_CACHE=$folder "$temp/cache" "$object" 5 stop >"$temp/said" 2>&1 &
stopped=$!
while kill -0 $stopped && ! ps -o s= $stopped | grep -q T; do sleep 0.1; done
compiles && grep -q '^k: has waited 5 s for' "$temp/said" && compiles_nothing
good=$?
kill -KILL $stopped
wait $stopped 2>"$temp/said"
result stopped $good

folder=0
compiles && compiles && [ ! -e 0 ]
result off $?
exit $failed
