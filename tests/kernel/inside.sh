#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the emulated machine, in busybox's shell: the tests one by one, and what they print only when
# they fail. Emulation is slow, and slower by what the machine around it does meanwhile, which its clocks take
# for time gone by: what fails is run again, four times at most, and "again" says so, since whether a thread can
# be held in time is chance there; a race has 40 s, and a loan that no such clock uses up.
# usage: inside.sh BUILD engine|races TESTS RACING FREE REPRODUCERS SECONDS
#        (races: RACING and FREE; engine: all else. Lists of names, a test's may have =ARGUMENT; SECONDS for each
#        race-free program)
build=$1 part=$2 tests=$3 racing=$4 free=$5 reproducers=$6 seconds=$7
programs=$build/kernels
failed=0
cd /tmp || exit 1
echo "kernel $(cat /proc/sys/kernel/osrelease)"

FALSE=99 # a false finding: nothing that another run could put right

# try NAME COMMAND…: five times at most. 77: it skipped itself.
try() {
	name=$1
	shift
	for attempt in 1 2 3 4 5; do
		"$@" >output 2>&1
		status=$?
		[ $status = 0 ] && break
		[ $status = 77 ] && break
		[ $status = $FALSE ] && break
		echo "again $name, status $status: $(tail -n 1 output | cut -c 1-150)"
	done
	case $status in
	0) echo "ok $name" ;;
	77) echo "skipped $name: $(tail -n 1 output)" ;;
	*)
		echo "FAILED $name, status $status"
		cat output
		failed=1
		;;
	esac
}

# What each detector must tell of, and of what it must be silent though it did watch. Which class a finding is
# given depends on how soon the controller looks, which is late here: tests/behave judges it.
# usage: finds KIND PROGRAM COMMAND…, silent PROGRAM COMMAND…     (a program with its arguments is one word)
finds() {
	kind=$1 program=$2
	shift 2
	rm -f found
	timeout 60 "$build/trapline" "$@" -q --loan 600 -o found -- $program
	grep -q "\"kind\":\"$kind\"" found
}

silent() {
	program=$1
	shift
	rm -f found
	timeout 60 "$build/trapline" "$@" -q --loan 600 -o found -- $program || return 1
	! grep '"class":"\(definite\|likely\)"' found || return $FALSE
	! grep -E 'nothing was watched|never took part' output
}

# Less than 5 % of the stores, where half of them are dead in the program above.
wastes_little() {
	rm -f found
	timeout 60 "$build/trapline" flow waste --aggressive -q --loan 600 -o found -- $1
	grep '"kind":"dead-stores"' found | grep -q '"percent":"[0-4]\.'
}

# Ended as soon as a race is found.
finds_race() {
	rm -f found
	"$build/trapline" race --aggressive --loan 600 -q -o found -- "$programs/$1" 40 &
	pid=$!
	while kill -0 $pid && ! grep -q '"kind":"data-race"' found; do
		sleep 0.5
	done
	kill $pid
	wait $pid
	grep -q '"kind":"data-race"' found
}

tells_writes() {
	timeout 60 "$build/trapline" watch harness_count:4:w --count -- "$programs/mutex" 1 2>&1 |
		grep 'harness_count.*: [1-9][0-9]* hits'
}

# as_user CAPABILITY COMMAND…: with this capability and no other; none: with none. Not busybox's setpriv.
as_user() {
	set_of=-all${1:+,+$1}
	shift
	/usr/bin/setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps="$set_of" --ambient-caps="$set_of" "$@"
}

# The levels above 2 are Debian's own (Ubuntu's default is 4): nothing for users, and of no use to them is CAP_PERFMON.
# The program runs all the same; what is said is what helps.
refused() {
	chmod 711 /tmp
	for level in 3 4; do
		echo $level >$paranoid
		for capability in "" perfmon; do
			as_user "$capability" "$build/trapline" doctor >told && return 1
			as_user "$capability" "$build/trapline" watch harness_count --count -- "$programs/mutex" 1 2>>told || return 1
			[ "$(grep -c "perf_event_paranoid is $level; set it to 2 .* CAP_SYS_ADMIN" told)" = 2 ] || return 1
		done
		as_user sys_admin "$build/trapline" doctor >told || return 1
	done
	echo 2 >$paranoid
	as_user "" "$build/trapline" doctor >told && grep -q 'missing  kernel-accesses' told &&
		as_user perfmon "$build/trapline" doctor >told && grep -q 'ok       kernel-accesses' told
}
paranoid=/proc/sys/kernel/perf_event_paranoid

engine() {
	# Whether they pass is the kernel's affair.
	for name in $reproducers; do
		echo "$name: $(timeout 120 "$build/tests/kernel/$name")"
	done
	try doctor "$build/trapline" doctor
	for name in $tests; do
		argument=${name#*=}
		[ "$argument" != "$name" ] || argument=
		name=${name%%=*}
		try "$name" timeout 90 "$build/tests/behave/$name" $argument
	done
	try watch tells_writes
	try throttle "$build/trapline" throttle --cpu 20% -- "$programs/throttled"
	wasting=$build/tests/behave/flow/flow_wasting
	try permission refused
	try "heap: a use after free" finds heap-use-after-free "$programs/heap_use_after_free read_64" heap --all
	try "heap: silent" silent "$programs/heap_blocks_right zeroes" heap --all
	try "stack: a use after return" finds stack-use-after-return "$programs/stack_use global_hot 8" stack
	try "stack: an overwritten frame" finds stack-overwrite "$programs/stack_overwrite loop 3" \
		stack --tool-option function=victim_loop
	try "stack: silent" silent "$programs/stack_leaf red_zone 1" stack
	try "uninit: a branch" finds uninitialised-read "$programs/uninit_errors branch_on_member" uninit --all
	try "uninit: silent" silent "$programs/uninit_correct padding_copied" uninit --all
	try "flow: dead stores" finds dead-store "$wasting half-dead 3" flow waste --aggressive
	try "flow: no dead stores" wastes_little "$wasting clean 2"
}

races() {
	for name in $racing; do
		try "race in $name" finds_race "$name"
	done
	for name in $free; do
		try "no race in $name" silent "$programs/$name $seconds" race --aggressive
	done
}

"$part"
exit $failed
