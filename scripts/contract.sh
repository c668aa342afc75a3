#!/bin/sh
# Compares the contract with the last released one and fails when a client
# could break. Released is what the last tag holds, or api/released.yaml where
# there is no tag. A break that is meant needs a line "Breaking: <why>" in the
# message of a commit since that tag; then it is only shown.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
base=$(mktemp)
trap 'rm -f "$base"' EXIT
tag=$(git describe --tags --abbrev=0 2>/dev/null || true)
if [ -n "$tag" ] && git show "$tag:api/openapi.yaml" >"$base" 2>/dev/null; then
	since=$tag
elif [ -f api/released.yaml ]; then
	cp api/released.yaml "$base"
	since=api/released.yaml
else
	echo "contract: nothing released yet, so nothing to break"
	exit 0
fi
fail='--fail-on ERR'
if [ -n "$tag" ] && git log --format=%B "$tag..HEAD" | grep -q '^Breaking: .'; then
	fail=
fi
echo "contract: changes that break clients of $since"
# shellcheck disable=SC2086 # the option is two words or none
go tool -modfile=tools/go.mod oasdiff breaking $fail "$base" api/openapi.yaml
