# For the scripts of this folder, to be sourced: a folder that is removed at the end, and programs in
# the background that have ended before it is.
# shellcheck shell=bash

work=$(mktemp -d)
started=()
# A program that still writes would keep the folder from being removed.
finish() {
    local pid
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

fail() {  # LINE...
    printf '%s\n' "$@"
    exit 1
}

wait_for() {  # SECONDS COMMAND...
    local left=$(($1 * 20))
    shift
    until "$@"; do
        ((left-- > 0)) || return 1
        sleep 0.05
    done
}
