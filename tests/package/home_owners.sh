# Owners that stop or die between an object and its checkpoint, to be sourced by home_security: no
# event may be lost, neither in the objects nor on the residents' page.
# shellcheck shell=bash

state() { ps -o state= -p "$1" | tr -d ' '; }
is_stopped() { [[ $(state "$1") == T ]]; }
has_ended() { [[ -z $(state "$1") || $(state "$1") == Z ]]; }

# Each event is a change of one sensor. The window is an hour, which the owner's fast clock ends at once.
report() {  # NUMBER
    "$evenkeel" send night "{\"home\":7,\"number\":$1,\"sensor\":\"Front door\",\"state\":\"open\",\"changed\":true,\"at\":$(date +%s%3N)}" \
        >/dev/null 2>"$work/send.err" || fail "$(cat "$work/send.err")"
}
owner() {  # NAME FAULT
    HOME_FAULT=$2 HOME_CLOCK_AHEAD=7200 HOME_SYNCED=$work/$1.synced \
        start "$1" aggregator --event-hub night --id "$1" --window 3600 --profile fast
}
changes_shown() {
    curl -s "$1/api/home/7" | grep -o '"place":"Front door"[^]]*' | grep -o '\[.*' | tr -c '0-9\n' '\n' |
        awk '{sum += $1} END {print sum + 0}'
}
shows() { [[ $(changes_shown "$nightly") == "$1" ]]; }
has_written() { grep -qs "sequences [0-9]* $2 window" "$work/$1.out"; }

test_owners() {
    local EVENKEEL_HUB=${EVENKEEL_HUB/EntityPath=homes/EntityPath=night} EVENKEEL_STORE=sqlite:$work/night.db
    local HOME_AGGREGATES=$work/night stopped successor killed folder
    "$evenkeel" group create night aggregator >/dev/null 2>"$work/group.err" || fail "$(cat "$work/group.err")"
    start nightly page --homes 10 --partitions 1 --port 0
    wait_for 30 grep -qs '^ready: ' "$work/nightly.out" || fail "the page does not start"
    nightly=$(sed -n 's/^ready: \(.*\)\/home\/0/\1/p' "$work/nightly.out")
    mkdir -p "$HOME_AGGREGATES/drafts"
    touch -d '2 days ago' "$HOME_AGGREGATES/drafts/old.draft"

    # One that is stopped while it writes its object goes on after its successor has written more.
    report 0
    owner stopped stop
    stopped=$program
    wait_for 30 is_stopped "$stopped" || fail "the first owner of the night writes nothing"
    report 1
    owner successor ''
    successor=$program
    wait_for 60 has_written successor 1 || fail "nobody takes over from an owner that is stopped"
    wait_for 10 shows 2 || fail "the page shows $(changes_shown "$nightly") changes of 2"
    kill -CONT "$stopped"
    wait_for 30 has_written stopped 0 || fail "the stopped owner does not finish its object"
    wait_for 10 shows 2 || fail "a late object of a former owner hides an event"
    start again page --homes 10 --partitions 1 --port 0
    wait_for 30 grep -qs '^ready: ' "$work/again.out" || fail "the page does not start again"
    nightly=$(sed -n 's/^ready: \(.*\)\/home\/0/\1/p' "$work/again.out")
    wait_for 10 shows 2 || fail "a late object of a former owner has overwritten that of its successor"

    # What a power failure must leave: the objects' names, and those of the folders above them.
    for folder in "$HOME_AGGREGATES" "$(dirname "$(find "$HOME_AGGREGATES" -name '*.jsonl' | head -n 1)")"; do
        while [[ $folder == "$work"/* ]]; do
            grep -qxF "$folder" "$work/successor.synced" || fail "$folder is not synced" "$(sort -u "$work/successor.synced")"
            folder=$(dirname "$folder")
        done
    done
    [[ ! -e $HOME_AGGREGATES/drafts/old.draft ]] || fail "an old draft stays for ever"

    # One is killed between its object and the checkpoint.
    kill -TERM "$stopped" "$successor"
    wait_for 30 has_ended "$stopped" && wait_for 30 has_ended "$successor" || fail "an owner does not end"
    report 2
    owner killed kill
    killed=$program
    wait_for 30 has_ended "$killed" || fail "the owner was not killed"
    wait_for 10 shows 3 || fail "the page shows $(changes_shown "$nightly") changes of 3"
    report 3
    owner last ''
    wait_for 60 has_written last 3 || fail "nobody takes over from an owner that was killed"
    wait_for 10 shows 4 || fail "the page misses what was written anew: $(changes_shown "$nightly") changes of 4"
    kill -TERM "$program"
}
