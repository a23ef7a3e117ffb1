#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The shells complete commands and options. zsh's is only parsed: it completes on a terminal alone.
# usage: tests/cli/completion.sh TRAPLINE COMPLETIONS
set -u
trapline=$(realpath "$1") completions=$(realpath "$2")
PATH=$(dirname "$trapline"):$PATH
status=0

expect() {
	local shell=$1 line=$2 wanted=$3 got
	got=$(complete_$shell "$line")
	grep -qxF -- "$wanted" <<<"$got" || {
		echo "$shell: '$line' does not complete to '$wanted', but to: $got"
		status=1
	}
}

complete_bash() {
	bash --norc -c 'source /usr/share/bash-completion/bash_completion
		source "$2/trapline"
		COMP_LINE=$1 COMP_POINT=${#1}
		read -ra COMP_WORDS <<<"$1"
		[[ $1 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_trapline
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1" "$completions"
}

complete_fish() {
	fish --no-config -c 'source $argv[2]/trapline.fish; complete -C $argv[1]' "$1" "$completions" | cut -f1
}

for shell in bash fish; do
	expect $shell "trapline ra" race
	expect $shell "trapline doc" doctor
	expect $shell "trapline race --bud" --budget
	expect $shell "trapline watch --fol" --follow
	expect $shell "trapline race --budget 5 -- printen" printenv
done
# Each command, and each option that a command's help lists at the start of a line.
listed_options() {
	trapline "$1" --help | sed -nE 's/^  (-[a-zA-Z], )?(--[a-z-]+).*/\2/p'
}

expect_all() {
	local shell=$1 command option commands got
	commands=$(trapline --help | sed -n 's/^  trapline \([a-z]*\) .*/\1/p')
	got=$(complete_$shell "trapline ")
	for command in $commands; do
		grep -qxF "$command" <<<"$got" || { echo "$shell: no command $command"; status=1; }
	done
	for command in $commands; do
		got=$(complete_$shell "trapline $command --")
		for option in $(listed_options "$command"); do
			grep -qxF -- "$option" <<<"$got" || { echo "$shell: $command has no $option"; status=1; }
		done
	done
}

for shell in bash fish; do
	expect_all $shell
	expect $shell "trapline flow share --supp" --suppressions # one that it shares with race
done
zsh -n "$completions/_trapline" || status=1
exit $status
