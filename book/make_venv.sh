#!/bin/sh
# Make the virtual environment of the Makefile, anew where the one that is there would not work.
#
#     make_venv.sh FOLDER PYTHON NAMED
#
# It would not where it was made or filled by half, where it or a folder above it was moved, and
# where its Python was replaced or removed. With which Python and in which folder it was made stands
# in its file `made`, which is written last; the Makefile keeps a file `installing` in it while pip
# works, because a package that a killed pip was about to write counts as installed for the next.
# NAMED is not empty where the caller has asked for PYTHON by name: another one is then replaced too.
set -eu
folder=$1 python=$2 named=${3:-}
version='import platform, sys; print("Python", platform.python_version(), "of", sys.base_prefix)'
place='import os; print("in", os.path.realpath(sys.prefix))'

broken() {
    if [ ! -e "$folder/made" ]; then
        echo "it was not finished"
    elif [ -e "$folder/installing" ]; then
        echo "its packages are not all installed"
    elif ! now=$("$folder/bin/python" -c "$version; $place" 2>/dev/null); then
        echo "its Python does not run any more"
    elif [ "$now" != "$(cat "$folder/made")" ]; then
        echo "it was made with" $(cat "$folder/made") "and is now" $now
    elif [ -n "$named" ] && [ "$("$python" -c "$version")" != "$(head -n 1 "$folder/made")" ]; then
        echo "it was made with $(head -n 1 "$folder/made") and $python is another"
    fi
}

if [ -e "$folder" ] || [ -h "$folder" ]; then
    reason=$(broken)
    [ -n "$reason" ] || exit 0
    echo "$folder is made anew: $reason."
fi

"$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || {
    echo "This book needs Python 3.11, 3.12 or 3.13 and '$python' is none of them" >&2
    echo "(found: $("$python" --version 2>&1)). Name one: make PYTHON=python3.13 ${GOALS:-}" >&2
    exit 1
}
"$python" -c 'import venv, ensurepip' 2>/dev/null || {
    echo "$python cannot make a virtual environment: its venv package is missing." >&2
    echo "On Debian and Ubuntu: sudo apt-get install python3-venv" >&2
    echo "Then run this command again." >&2
    exit 1
}
rm -rf "$folder"
"$python" -m venv "$folder"
"$folder/bin/python" -c "$version; $place" >"$folder/made"
