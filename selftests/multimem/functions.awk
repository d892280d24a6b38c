# SPDX-License-Identifier: MIT
# Prints docs/multimem.md's table, a line per function: name instruction operator acc n T
BEGIN {
	FS = " *\\| *"
	orders["ld_reduce"] = "- weak relaxed acquire"
	orders["st"] = "- weak relaxed release"
	orders["red"] = "- relaxed release"
}
function row(order, op, n, T,	acc, name) {
	acc = op ~ /acc::/ ? substr(op, length(op) - 2) : "none"
	name = "multimem_" $2
	if (order != "-")
		name = name "_" order
	if (op != "")
		name = name "_" op
	sub(/\.acc::/, "_acc_", name)
	if (n > 1)
		name = name "_v" n
	sub(/\..*/, "", op)
	print name "_" T, $2, op == "" ? "none" : op, acc, n, T
}
$2 in orders {
	if (split($3, ops, " ") == 0)
		ops[1] = ""
	for (o in ops)
		for (k = 0; k < 4; k++)
			for (t = split($(4 + k), types, " "); t; t--)
				for (r = split(orders[$2], names, " "); r; r--)
					row(names[r], ops[o], 2 ^ k, types[t])
	delete ops
}
