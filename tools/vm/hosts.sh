# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Emulated hosts in memcast-vm's machine: memcast-hosts starts the program there. Used by
# memcast-vm only, with its variables: hosts, hosts_way, hosts_label, launcher, module, params,
# modules_wanted, build, host.

# Checks the options for hosts. Hosts need a network, and an IMEX channel to share memory by fabric
# handles.
use_hosts() {
	if [ -z "$hosts" ]; then
		[ -z "$hosts_way$hosts_label" ] ||
			die "${hosts_way:-$hosts_label}: --hosts has to say how many hosts" \
				"there are"
		return 0
	fi
	[ -n "$module" ] || die "--hosts: there are none without memcast.ko"
	[ -n "$hosts_way" ] || [ -z "$hosts_label" ] || die "--label goes with --each or --per-host"
	modules_wanted+=" veth bridge"
	[[ " ${params[*]} " == *" imex_channels="* ]] || params+=(imex_channels=1)
	[ -z "$hosts_way" ] ||
		launcher=(/memcast-vm/memcast-hosts "$hosts_way" ${hosts_label:+"$hosts_label"} --)
}

pack_hosts() {
	pack "$build/tools/memcast-hosts" memcast-vm/memcast-hosts
	[ -n "$host" ] || pack_needs "$build/tools/memcast-hosts"
}
