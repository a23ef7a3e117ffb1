# SPDX-License-Identifier: Apache-2.0
# Pipelines and job control as scripts and terminals use them. Process ids are left out of the output.
set -m
seq 2000 | grep 7 | sort -r | tail -n 3 | tee >(wc -l) | cat
sleep 0.3 & sleep 0.2 & jobs | sed 's/[0-9]\{3,\}/N/'
kill -STOP %1; sleep 0.1; jobs %1; kill -CONT %1; wait %1; echo "first $?"
wait %2; echo "second $?"
(trap 'echo interrupted; exit 5' INT; kill -INT $BASHPID; sleep 1); echo "subshell $?"
sh -c 'kill -SEGV $$'; echo "killed $?"
coproc upper { tr a-z A-Z; }
echo coprocess >&"${upper[1]}"; eval "exec ${upper[1]}>&-"; cat <&"${upper[0]}"; wait
trap 'echo child' CHLD; true & wait; trap - CHLD
diff <(printf '1\n2\n') <(printf '1\n3\n'); echo "differ $?"
for i in $(seq 200); do true | false | true; echo -n "${PIPESTATUS[*]} "; done | tr ' ' '\n' | sort | uniq -c
timeout 0.2 sleep 5; echo "timeout $?"
ulimit -n 64; exec 60>/dev/null && echo "descriptor 60"
echo "environment $(env | grep -c -i -E "trapline|preload")"
