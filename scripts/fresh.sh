#!/usr/bin/env bash
# Tries the two commands of the README on machines that have nothing: an empty
# Debian in a chroot, with make, git and this machine's package settings, with
# and without Go. `make run` must print a call that works when pasted and serve
# the console; `make test` must pass. Needs root and debootstrap (installed if
# missing). Uncommitted changes are not tried.
#
# Variables choose less: SUITES="bookworm trixie" GO="with without"
# COMMANDS="run test".
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "fresh: needs root, for chroot and mounts" >&2; exit 1; }
command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap >/dev/null; }

work=$(mktemp -d -t fanfare-fresh.XXXXXX)
log=$work/log
machine=

# stop ends every process that runs inside the empty machine.
stop() {
	local p
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/root" 2>/dev/null)" != "$machine" ] || kill "${p#/proc/}" 2>/dev/null || true
	done
}

leave() {
	[ -n "$machine" ] || return 0
	stop
	for m in usr/local/go dev/pts dev sys proc; do umount -l "$machine/$m" 2>/dev/null || true; done
	rm -rf --one-file-system "$machine"
	machine=
}
trap 'leave; rm -rf --one-file-system "$work"' EXIT

mirror() {
	grep -hoE '^(URIs:|deb) .*' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE '[a-z+]+://[^ ]+' | head -n 1
}

# enter builds an empty machine with the committed project in /root/project.
enter() {
	local suite=$1 go=$2
	[ -d "$work/$suite" ] || debootstrap --variant=minbase --include=ca-certificates,make,git "$suite" "$work/$suite" "$(mirror)" >"$log"
	machine=$work/machine
	cp -a "$work/$suite" "$machine"
	mkdir -p "$machine"/{proc,sys,dev,usr/local/go,usr/etc,root/.config}
	mount -t proc proc "$machine/proc"
	mount -t sysfs sysfs "$machine/sys"
	mount --bind /dev "$machine/dev"
	mount --bind /dev/pts "$machine/dev/pts"
	[ "$go" = without ] || mount --bind "$(go env GOROOT)" "$machine/usr/local/go"
	# The package clients of the empty machine are set up like those of this one.
	rm -f "$machine/etc/apt/sources.list"
	cp -r /etc/apt/. "$machine/etc/apt/"
	sed -i "s/$(. /etc/os-release && echo "$VERSION_CODENAME")/$suite/g" "$machine"/etc/apt/sources.list.d/*
	cp /etc/resolv.conf /etc/hosts "$machine/etc/"
	cp -rn /etc/ssl/certs/. "$machine/etc/ssl/certs/" || true
	for f in /etc/npmrc /usr/etc/npmrc /root/.npmrc /etc/pip.conf /root/.config/go; do
		[ ! -e "$f" ] || cp -r --parents "$f" "$machine"
	done
	git clone -q . "$machine/root/project"
}

inside() {
	chroot "$machine" env -i HOME=/root PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb \
		FANFARE_LISTEN=127.0.0.1:18443 bash -c 'cd /root/project && exec "$@"' -- "$@"
}

# try_run waits for the printed call, pastes it, and looks for the console.
try_run() {
	: >"$log" # grep must not find the call of the machine before
	inside make run >"$log" 2>&1 &
	local run=$! call
	until call=$(grep -m 1 '^curl ' "$log"); do
		kill -0 $run 2>/dev/null || return 1
		sleep 1
	done
	echo "fresh: the call was printed after $((SECONDS - begun)) s"
	local ok=0
	inside bash -c "$call" | grep -q '"data":\[{' || { echo "fresh: the printed call failed: $call" >&2; ok=1; }
	inside curl -s --cacert fanfare-demo/tls/ca.pem https://127.0.0.1:18443/ -L | grep -q '<script type="module"' ||
		{ echo "fresh: the console is not served" >&2; ok=1; }
	stop
	wait $run || true
	return $ok
}

try_test() { inside make test >"$log" 2>&1; }

failed=0
for suite in ${SUITES:-bookworm trixie}; do
	for go in ${GO:-with without}; do
		for command in ${COMMANDS:-run test}; do
			echo "fresh: make $command on $suite, $go Go"
			enter "$suite" "$go"
			begun=$SECONDS
			if "try_$command"; then
				echo "fresh: passed after $((SECONDS - begun)) s"
			else
				failed=1
				grep -E -A 25 -- '--- FAIL|^panic:|^FAIL|rror' "$log" | head -n 150 || true
				tail -n 40 "$log"
				echo "fresh: make $command FAILED on $suite, $go Go, after $((SECONDS - begun)) s"
			fi
			leave
		done
	done
done
exit $failed
