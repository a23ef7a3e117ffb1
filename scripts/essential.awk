# SPDX-License-Identifier: Apache-2.0
# The essential lines of a text report's first finding, or of the first one of a kind: what it is, who did it, to what, and why.
# Of each stack the two innermost functions are left, of its details only the reasons.
# variables: bold, dim, plain: how a terminal is told to print so, or empty; kind: what the finding begins with, or empty
function end_stack() {
	if (left_out)
		print dim "        … and " left_out " more" plain
	left_out = frames = sources = 0
}

/^[a-z][a-z -]*, (definite|likely|possible)/ {
	if (!seen && index($0, kind) != 1)
		next
	if (seen++)
		exit
	sub(/  \[[0-9a-f]+\]$/, "")
	print "  " bold $0 plain
	next
}
!seen || /^$/ { next }
/^ *#[0-9]+ / {
	begins_a_thread = $2 ~ /^(_start|__libc_start_.*|start_thread|clone3?)$/
	shown = frames < 2 && !begins_a_thread
	if (!shown) {
		left_out += !begins_a_thread
		next
	}
	frames++
	# "#0  add_guest  /path/heap_mistakes.c:29:2  (inlined)  (heap_mistakes+0x12cb)", or "#0  0x55b9a4553fed  (memcached+0x20fed)",
	# of which the place in the module is what tells something.
	sub(/  \(inlined\)/, "")
	if (!sub(/  0x[0-9a-f]+  \(/, "  ("))
		sub(/  \([^ ()]*\+0x[0-9a-f]+\)$/, "")
	# Folders may have blanks in their names.
	if (!sub(/  \/.*\//, "  "))
		sub(/  [^ ]*\//, "  ")
	if (/:[0-9]+:[0-9]+$/)
		sub(/:[0-9]+$/, "")
	print "  " $0
	next
}
/^ *\| / {
	if (shown && !sources++)
		print dim "  " $0 plain
	next
}
{ end_stack() }
/^[^ ]/ { exit }
/^       / && reasons { print "  " $0; next }
{ reasons = /^  why: / }
/^  (read|write|access)[ ,]/ || /^  (object|why): / || /^  freed by / || /^  its frame returned/ {
	print "  " $0
}
END { end_stack() }
