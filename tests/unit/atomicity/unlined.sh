# SPDX-License-Identifier: Apache-2.0
# usage: unlined.sh SOURCE OUTPUT LINKING…: SOURCE with OpenMP, by Clang; of instructions with LOCK, and of those
# between them and the next line, the debug information tells no line.
set -e
source=$1 output=$2
shift 2
clang -fopenmp -g -O0 -Wno-unknown-pragmas -S "$source" -o "$output.lined.s"
awk '$1 == ".loc" { file = $2 } $1 == "lock" { print "\t.loc " file " 0 0" } { print }' "$output.lined.s" >"$output.s"
clang "$output.s" -o "$output" "$@"
rm "$output.lined.s" "$output.s"
