# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Programs in machines that run already: memcast-vm exec, shell, ps and stop, and --reuse.
# Used by memcast-vm only, with its variables. vm-door talks to the machines.

# Succeeds if all goals exist and no source is newer than the last build. make takes longer to tell.
built() {
	local made=$build/made-$release${module:+-module} goal
	[ -e "$made" ] || return
	for goal in "${goals[@]}" "${host_goals[@]}"; do
		[[ $goal != */* ]] || [ -e "$top/$goal" ] || return
	done
	if [ -n "$module" ]; then
		[ -e "$build/kmod-$release/memcast.ko" ] && [ -e "$libraries/libcuda.so.1" ] ||
			return
	fi
	local from=("$top"/{include,kmod,lib,tools,profiles,Makefile,Kbuild,dkms.conf})
	[ ! -e "${kdir-}/Module.symvers" ] || from+=("$kdir/Module.symvers")
	[ -z "$(find "${from[@]}" -newer "$made" -print -quit)" ]
}

need_door() {
	[ ! -e "$here/installed" ] || use_installed
	[ "$*" != await ] || await_name
	[ -x "$tools/vm-door" ] || die "no machine with a name runs"
}

# Prints the file that is locked before a machine with this name boots, while its kernel is fetched
# and its module is built. The folder is that of names.c: a first run has no vm-door yet to ask.
starting_file() {
	local folder=/tmp/memcast-$EUID
	[[ ${XDG_RUNTIME_DIR-} != /* ]] || [ ! -O "$XDG_RUNTIME_DIR" ] ||
		folder=$XDG_RUNTIME_DIR/memcast
	mkdir -m 700 "$folder" 2>/dev/null ||
		{ [ -d "$folder" ] && [ -O "$folder" ] && [ ! -L "$folder" ]; } || return
	echo "$folder/$name.starting"
}

# The runner of a named machine has the lock until clients can connect or the runner has ended.
starting=
name_noted() {
	starting_at=$(starting_file) || return 0
	{ exec {starting}>"$starting_at"; } 2>/dev/null || { starting=; return 0; }
	flock -n "$starting" || { exec {starting}>&-; starting=; }
}
name_served() {
	[ -n "$starting" ] || return 0
	rm -f "$starting_at"
	flock -u "$starting"	# children have the file open, too
	exec {starting}>&-
	starting=
}

# exec waits for the name, as people start exec right after the machine.
await_name() {
	local file lock tries
	file=$(starting_file) || return 0
	for ((tries = 0; tries < 100; tries++)); do
		! "$tools/vm-door" alive "$name" 2>/dev/null || return 0
		if { exec {lock}<"$file"; } 2>/dev/null; then
			# Without a lock, the file's runner is about to lock it, or was killed.
			if ! flock -ns "$lock"; then
				say "waiting until the machine named $name is ready to boot"
				flock -s "$lock"
				exec {lock}<&-
				return 0
			fi
			exec {lock}<&-
		fi
		[ $tries -ne 10 ] || say "waiting up to 10 s for a machine named $name"
		sleep 0.1
	done
}

# Collects the options that a machine of --reuse is started with: all that are not about the program
remember_option() {
	case $1 in
	--rw|--out) machine_options+=(--rw "$(realpath -m -- "$2")") ;;
	--kernel|--arch|--cpus|--memory|--numa|--modules|--try-modules|--append|--devices|--hosts|\
	--pool-mib|--param)
		machine_options+=("$1" "$2") ;;
	--no-module|--no-unload|--no-leaks) machine_options+=("$1") ;;
	esac
}

# Starts vm-door, which lets clients in and ends with this script
open_door() {
	local mode=named words=("${command[@]}") line ready
	if [ -n "$serves" ]; then
		mode=reused words=()
		reuse_folder=$("$tools/vm-door" folder)
		echo "$temp" >"$reuse_folder/$name.folder"
	fi
	exec {ready}< <(exec "$tools/vm-door" serve "$name" $$ "$temp" "$release" "$mode" \
		"${words[@]}")
	door=$!
	read -r line <&"$ready" && [ "$line" = listens ] || exit 125
	name_served
	exec {ready}<&-
}

# Settings that give a program this process's folder and environment, and the variables of --env
program_settings() {
	local word
	settings=("cwd=$PWD" "$@")
	while IFS= read -r -d '' word; do
		settings+=("host_env=$word")
	done < <(env=() host=yes; environment)
	for word in "${env[@]}"; do settings+=("env=$word"); done
}

# Reads the options of exec and shell; leaves the machine's name in $name and the rest in $words
running_options() {
	timeout=0 limit=0 settings=() words=()
	while [ $# -gt 0 ]; do
		case $1 in
		--*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
		esac
		case $1 in
		--root) root=yes ;;
		--env)	[ $# -ge 2 ] || die "--env needs a value"
			[[ $2 =~ ^[A-Za-z_][A-Za-z_0-9]*(=|$) ]] ||
				die "--env takes NAME=VALUE or NAME, not '$2'"
			[[ $2 == *=* ]] && env+=("$2") || env+=("$2=${!2-}"); shift ;;
		-h|--help) usage; exit ;;
		-*)	die "unknown option $1; see $me --help" ;;
		*)	break ;;
		esac
		shift
	done
	[ $# -eq 0 ] || { name=$1; shift; }
	[ "${1-}" != -- ] || shift
	words=("$@")
}

running_exec() {
	running_options "$@"
	[ -n "$name" ] && [ ${#words[@]} -gt 0 ] ||
		die "usage: $me exec [--root] [--env K=V] NAME [--] COMMAND [ARGUMENT…]"
	need_door await
	program_settings ${root:+root=} timeout=0 limit=0
	exec "$tools/vm-door" run "$name" <(printf '%s\0' "${settings[@]}") "" "${words[@]}"
}

running_shell() {
	local names
	running_options "$@"
	need_door ${name:+await}
	if [ -z "$name" ]; then
		mapfile -t names < <("$tools/vm-door" list --names)
		[ ${#names[@]} -gt 0 ] ||
			die "no machine with a name runs; for one with a shell: $me --host -- bash"
		[ ${#names[@]} -eq 1 ] || die "in which? ${names[*]}"
		name=${names[0]}
	fi
	[ ${#words[@]} -eq 0 ] || die "shell takes a name only; $me exec runs commands"
	program_settings ${root:+root=} timeout=0 limit=0
	settings+=("shell=${SHELL:-/bin/sh}")
	exec "$tools/vm-door" run "$name" <(printf '%s\0' "${settings[@]}") ""
}

running_ps() {
	case $*/${1-} in
	/) ;;
	--json/--json) ;;
	*) die "usage: $me ps [--json]" ;;
	esac
	[ ! -e "$here/installed" ] || use_installed
	if [ ! -x "$tools/vm-door" ]; then
		[ $# -eq 0 ] && echo "no machine with a name runs" || echo '[]'
		exit
	fi
	exec "$tools/vm-door" list "$@"
}

running_stop() {
	[ $# -eq 1 ] || die "usage: $me stop NAME"
	need_door
	exec "$tools/vm-door" stop "$1"
}

# ---- --reuse

# Makes $key, and a name where --name gives none, from a machine's options, kernel and module
reuse_name() {
	key=$({ printf '%s\n' "${machine_options[@]}" "$idle" "$release"
		stat -Lc '%n %Y %s' "$vmlinuz" "$build/tools/vm-init" \
			${module:+"$build/kmod-$release/memcast.ko"}; } | sha256sum | cut -c -8)
	[ -n "$name" ] || name=reuse-$key
}

# reuse_lock FILE [-n]: lock FILE, with the fd in $lock; the holder may remove FILE. Fails if FILE's
# folder has gone, or, with -n, if another process has the lock.
reuse_lock() {
	while :; do
		{ exec {lock}>"$1"; } 2>/dev/null || return 1
		if ! flock ${2-} "$lock"; then
			exec {lock}>&-
			return 1
		fi
		# The process that had the lock before may have removed the file.
		[ ! "$1" -ef "/proc/self/fd/$lock" ] || return 0
		exec {lock}>&-
	done
}

# Removes the files of a machine that ends, but for a log with messages for the next run. If another
# machine has the name already, or is about to, the files are that machine's and stay.
reuse_forget() {
	local lock file=$reuse_folder/$name
	reuse_lock "$file.lock" -n || return 0
	if [ "$(cat "$file.folder" 2>/dev/null)" = "$temp" ]; then
		rm -f "$file".{key,folder,lock}
		[ -s "$file.log" ] || rm -f "$file.log"
	fi
	exec {lock}>&-
}

# Removes files that are a week old and whose machine does not run: it was killed, or no run asked
# for its log
reuse_sweep() {
	local file word
	find "$1" -maxdepth 1 -type f -mtime +7 \
		-regex '.*\.\(key\|folder\|lock\|log\|starting\)' -print0 |
		while IFS= read -r -d '' file; do
			word=${file##*/}
			"$tools/vm-door" alive "${word%.*}" || rm -f "$file"
		done
}

# Refuses a name that belongs to a machine with a program of its own, and leaves that machine alone.
reuse_check() {
	if "$tools/vm-door" alive "$name" && ! "$tools/vm-door" reused "$name" &&
	   "$tools/vm-door" alive "$name"; then
		die "the machine named $name was started without --reuse and runs a program of" \
			"its own; give another name, or run this in it: $me exec $name COMMAND"
	fi
}

# Ensures that a machine with this name and key runs, or boots
reuse_boot() {
	local folder=$1 lock
	reuse_check
	reuse_sweep "$folder"
	reuse_lock "$folder/$name.lock"
	if [ "$(cat "$folder/$name.key" 2>/dev/null)" != "$key" ] &&
	   "$tools/vm-door" alive "$name"; then
		say "$name has other options, or another module: it is started anew when its" \
			"programs have ended"
		"$tools/vm-door" stop "$name"
	fi
	if ! "$tools/vm-door" alive "$name"; then
		if [ -s "$folder/$name.log" ]; then
			say "the machine before this one said:"
			sed 's/^/  /' "$folder/$name.log" >&2
		fi
		note "booting $name"
		echo "$key" >"$folder/$name.key"
		setsid "$0" "${machine_options[@]}" --idle "$idle" --serves "$name" \
			</dev/null >/dev/null 2>"$folder/$name.log" {lock}>&- &
		until "$tools/vm-door" alive "$name"; do
			kill -0 $! 2>/dev/null || {
				sed 's/^/  /' "$folder/$name.log" >&2
				rm -f "$folder/$name".{key,folder,lock,log}
				die "no machine could be started"
			}
			sleep 0.05
		done
		disown
		reuse_check
	fi
	exec {lock}>&-
}

# Runs the command in the shared machine. A kernel report in that time fails the run, even if
# another program of the machine is the cause.
run_reused() {
	local folder theirs size code attempt key
	folder=$("$tools/vm-door" folder)
	rm -f "$temp/made"
	reuse_name
	program_settings ${root:+root=} fresh= clean= "timeout=$timeout" "limit=$limit"
	for attempt in 1 2 3; do
		reuse_boot "$folder"
		theirs=$(cat "$folder/$name.folder")
		size=$(stat -c %s "$theirs/log" 2>/dev/null) || size=0
		code=0
		"$tools/vm-door" run "$name" <(printf '%s\0' "${settings[@]}") "$temp/began" \
			"${launcher[@]}" "${command[@]}" || code=$?
		[ ! -e "$temp/began" ] || break
		note "attempt $attempt: the machine had ended"
	done
	[ -e "$temp/began" ] || sed 's/^/  /' "$folder/$name.log" >&2
	if tail -c "+$((size + 1))" "$theirs/log" >"$temp/log" 2>/dev/null && show_reports; then
		say "the kernel's log has a report, which fails the run"
		code=126
	fi
	# After a report or a leak the next run gets a fresh module, in another machine.
	[ $code -ne 126 ] || "$tools/vm-door" stop "$name" 2>/dev/null || true
	exit $code
}
