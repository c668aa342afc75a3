#!/bin/sh
# Builds the console and the API reference into the folders that the program
# embeds, where anything has changed since. Without Node the program still
# builds; it then serves a page that says how to build the console.
set -eu
cd "$(dirname "$0")/.."

major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/')
if [ "${major:-0}" -lt 20 ] || ! command -v npm >/dev/null 2>&1; then
	echo "Node 20 or newer is not here, so the console is left out; install it and run make web." >&2
	exit 0
fi

# packages puts in place what a lock file names, once for each lock file.
packages() {
	if ! cmp -s "$1/package-lock.json" "$1/node_modules/.fanfare-lock.json"; then
		(cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
		cp "$1/package-lock.json" "$1/node_modules/.fanfare-lock.json"
	fi
}

# changed says whether a result is missing or older than anything it is made of.
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
