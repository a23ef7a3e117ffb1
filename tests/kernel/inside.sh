#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs in the emulated machine, in busybox's shell: the tests one by one, and what they print only when
# they fail. Emulation is slow, and slower by what the machine around it does meanwhile, which its clocks take
# for CPU time used: a race has a minute, and a loan that no such clock uses up.
# usage: inside.sh BUILD TESTS RACING FREE REPRODUCERS     (each a list of names; a test's may have =ARGUMENT)
build=$1 tests=$2 racing=$3 free=$4 reproducers=$5
failed=0
cd /tmp || exit 1
echo "kernel $(cat /proc/sys/kernel/osrelease)"

told() {
	if [ "$2" = 0 ] || [ "$2" = 77 ]; then
		echo "ok $1"
	else
		echo "FAILED $1, status $2"
		cat output
		failed=1
	fi
}

# Whether they pass is the kernel's affair.
for name in $reproducers; do
	echo "$name: $("$build/tests/kernel/$name")"
done
"$build/trapline" doctor >output 2>&1
told doctor $?
for name in $tests; do
	argument=${name#*=}
	[ "$argument" != "$name" ] || argument=
	name=${name%%=*}
	"$build/tests/behave/$name" $argument >output 2>&1
	told "$name" $?
done
"$build/trapline" watch harness_count:4:w --count -- "$build/kernels/mutex" 1 >output 2>&1
status=$?
grep -q 'harness_count.*: [1-9][0-9]* hits' output || status=1
told watch $status
for name in $racing; do
	rm -f found
	"$build/trapline" race --aggressive --loan 600 -q -o found -- "$build/kernels/$name" 60 >output 2>&1 &
	pid=$!
	status=1
	while kill -0 $pid 2>/dev/null; do
		if grep -q '"kind":"data-race"' found 2>/dev/null; then
			status=0
			kill $pid
		fi
		sleep 1
	done
	told "race in $name" $status
done
for name in $free; do
	rm -f found
	"$build/trapline" race --aggressive --loan 600 -q -o found -- "$build/kernels/$name" 5 >output 2>&1
	status=$?
	grep -q '"class":"\(definite\|likely\)"' found 2>/dev/null && status=1
	told "no race in $name" $status
done
exit $failed
