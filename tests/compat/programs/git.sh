# SPDX-License-Identifier: Apache-2.0
# A history of 60 commits on three branches, merged, rebased, packed with threads, cloned, searched.
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_CONFIG_NOSYSTEM=1
git init -q -b main repository && cd repository
git config pack.threads 4; git config index.threads 4; git config core.preloadIndex true
for i in $(seq 60); do
	export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="170000$((1000 + i)) +0000"
	[ $i = 20 ] && git checkout -q -b one
	[ $i = 40 ] && git checkout -q main && git checkout -q -b two
	mkdir -p d$((i % 7)); seq $i $((i * 40)) >d$((i % 7))/f$i; echo $i >>common$((i / 20))
	git add -A; git commit -q -m "commit $i"
done
git checkout -q main; git merge -q --no-edit one; git rebase -q main two
git log --format='%H %s' --all | sha256sum
git gc -q --aggressive; git fsck --strict; git count-objects -v | grep -E 'in-pack|packs'
git grep --threads 4 -c 777 two | sha256sum; git diff --stat main two | tail -n 1
git clone -q --no-local . ../clone; git -C ../clone log --all --format=%T | sort | sha256sum
git bisect start two main >/dev/null; git bisect run sh -c 'test ! -e d3/f45' | grep -c 'is the first bad commit'
git bisect reset >/dev/null 2>&1
git archive two | tar -t | wc -l; git stash list | wc -l
