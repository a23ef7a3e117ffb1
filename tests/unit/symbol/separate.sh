#!/bin/sh
# Split PROGRAM into OUT, stripped, and DEBUG, which OUT names by a debug link and no build-id directory.
# SPDX-License-Identifier: Apache-2.0
set -e
program=$1 out=$2 debug=$3
objcopy --only-keep-debug "$program" "$debug"
strip -o "$out" "$program"
cd "$(dirname "$debug")"
objcopy --add-gnu-debuglink="$(basename "$debug")" "$(basename "$out")"
