#!/bin/sh
# Installs what building and testing need and the machine lacks.
# Usage: setup.sh toolchain | all
set -eu

need() {
	command -v "$1" >/dev/null 2>&1
}

install() {
	if ! need apt-get; then
		echo "Please install: $* (no apt-get here to do it)" >&2
		exit 1
	fi
	sudo=""
	[ "$(id -u)" = 0 ] || sudo="sudo"
	echo "Installing $*…" >&2
	$sudo apt-get update -qq
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq "$@" >/dev/null
}

need go || { echo "Please install Go 1.26 or later" >&2; exit 1; }
need cc || need gcc || install gcc libc6-dev

if [ "$1" = all ]; then
	need curl || install curl ca-certificates
	# The console is built with Node, and so run the vendors' own clients, which
	# the tests hold ours against.
	need npm || install nodejs npm
	need chromium || install chromium
	# The guides are run as they stand.
	need jq || install jq
	need python3 || install python3
	if [ -z "${FANFARE_TEST_POSTGRES:-}" ] && [ -z "${FANFARE_PG_BIN:-}" ]; then
		ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || install postgresql
	fi
fi
