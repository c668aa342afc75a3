#!/bin/sh
# Builds the console and the API reference into the folders that the program
# embeds, if their sources have changed since.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
if [ "${major:-0}" -lt 20 ] || ! command -v npm >/dev/null 2>&1; then
	echo "The console needs Node 20 or newer with npm: run make setup, which installs it." >&2
	exit 1
fi

# packages installs what a lock file names, once for each version of that file.
packages() {
	if ! cmp -s "$1/package-lock.json" "$1/node_modules/.fanfare-lock.json"; then
		(cd "$1" && npm ci --include=dev --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
		cp "$1/package-lock.json" "$1/node_modules/.fanfare-lock.json"
	fi
}

# changed reports whether a result is missing or older than its sources.
changed() {
	result=$1
	shift
	[ ! -e "$result" ] || [ -n "$(find "$@" -name node_modules -prune -o -type f -newer "$result" -print | head -n 1)" ]
}

if changed internal/console/dist/index.html web/src web/*.html web/*.json web/*.ts web/scripts web/contract/package-lock.json api/openapi.yaml; then
	echo "Building the console…" >&2
	packages web/contract
	packages web
	(cd web && npm run --silent build)
fi
if changed internal/docs/dist/reference.js web/reference; then
	echo "Building the API reference…" >&2
	node web/reference/build.mjs
fi
