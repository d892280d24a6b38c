# SPDX-License-Identifier: MIT
#
# Which folders the sources of a folder may include: a line "FOLDER OTHER" for each, itself among
# them, of the rows of direction.txt that ROOT has: awk -v root=lib -f rooms.awk direction.txt. A
# library that is linked apart finds no headers of the folders that it uses but those behind its name
# in the line "library".
{ sub(/ - .*/, "") }
$1 == "library" { apart[$2] = $0; next }
$1 ~ "^" root "/[a-z]*:$" {
	name = $1
	sub(/:$/, "", name)
	uses[name] = $0
}
END {
	for (name in uses) {
		print name, name
		count = split(name in apart ? apart[name] : uses[name], list, " ")
		for (i = 2; i <= count; i++)
			if (list[i] != "-" && list[i] != name)
				print name, list[i]
	}
}
