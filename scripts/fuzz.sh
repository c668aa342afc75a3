#!/bin/sh
# Runs every fuzz target for FUZZTIME (default 60s).
set -eu
time=${FUZZTIME:-60s}
grep -rl --include='*_test.go' '^func Fuzz' internal test | while read -r file; do
	dir=$(dirname "$file")
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r target; do
		echo "== $dir $target ($time)"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$dir"
	done
done
