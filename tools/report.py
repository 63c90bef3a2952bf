#!/usr/bin/env python3
"""The results of a run of ./test: one JSON object a line, added as stages end, shown at the last.

    tools/report.py add FILE passed|failed|skipped STAGE NAME [REASON]
    tools/report.py show FILE
"""

import json
import sys

STATUSES = ("passed", "failed", "skipped")


def add(path, status, stage, name, reason=""):
    if status not in STATUSES:
        raise ValueError(f"unknown status {status}")
    row = {"status": status, "stage": stage, "name": name, "reason": reason}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def counts(rows):
    number = {status: sum(row["status"] == status for row in rows) for status in STATUSES}
    return ", ".join(f"{number[status]} {status}" for status in STATUSES)


def label(row):
    return row["name"] if row["stage"] == "dev" else f"{row['name']} ({row['stage']})"


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else ""


def show(path):
    """Names every skip with its reason and every failure; the last line is the sum."""
    rows = read(path)
    for status in ("skipped", "failed"):
        for row in rows:
            if row["status"] == status:
                print(f"{status}: {label(row)}: {first_line(row['reason']) or 'no reason given'}")
    ran = any(row["status"] != "skipped" for row in rows)
    if not ran:
        print("no test ran")
    print(counts(rows))
    return 0 if ran and not any(row["status"] == "failed" for row in rows) else 1


def main(arguments):
    if len(arguments) in (5, 6) and arguments[0] == "add":
        add(*arguments[1:])
        return 0
    if len(arguments) == 2 and arguments[0] == "show":
        return show(arguments[1])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
