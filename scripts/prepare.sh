#!/bin/sh
# Compiles the packages of the program (SQLite takes longest) and builds the
# console at the same time, and reports every ten seconds what is still running.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
log=$(mktemp)
begun=$(date +%s)

say() { echo "[$(($(date +%s) - begun)) s] $*" >&2; }

running() { kill -0 "$1" 2>/dev/null; }

say "downloading Go modules"
# All but the standard library, whose paths begin without a dot, and the
# packages that embed what is being built, and their importers.
packages=$(go list -deps -f '{{.ImportPath}} {{join .Deps " "}} ' ./cmd/fanfare |
	grep -E '^[^/ ]*\.|^fanfare/internal/' | grep -vE '(^| )fanfare/internal/(console|docs) ' | cut -d ' ' -f 1)
say "compiling Go packages and SQLite, and building the console"
# shellcheck disable=SC2086 # one word for each package
go build $packages >"$log" 2>&1 &
modules=$!
sh scripts/web.sh &
console=$!
trap 'kill $modules $console 2>/dev/null || true; rm -f "$log"' EXIT INT TERM

seconds=0
while running $modules || running $console; do
	sleep 1
	seconds=$((seconds + 1))
	[ $((seconds % 10)) != 0 ] && continue
	left=
	running $modules && left="Go packages"
	running $console && left="${left:+$left, }console"
	[ -z "$left" ] || say "still building: $left"
done
wait $console
wait $modules || { cat "$log" >&2; exit 1; }
trap - EXIT INT TERM
rm -f "$log"
say "packages and console are ready"
