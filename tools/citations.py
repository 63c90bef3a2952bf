"""What comments and documents cite must exist: invariants, tests, checks and paths. Part of tools/tidy.

docs/invariants.md has one entry for each invariant:

    - **LOG-1** The sentence. Checked by `src/a.cc` (“text of the check”). Tested by `Suite.name`.
"""

import difflib
import re
from pathlib import Path

DOCUMENT = "docs/invariants.md"
FAMILIES = ("IO", "DISK", "NET", "SCHED", "AMQP", "CLIENT", "SEND", "DOOR", "AUTH", "HUB", "STREAM", "LOG", "JOURNAL",
            "STORE", "BAL", "OWN", "PUMP", "GROUP", "LOSS", "SCALE")
NUMBER = re.compile(r"\b(?:" + "|".join(FAMILIES) + r")-\d+\b(?!\.\d)")
ENTRY = re.compile(r"^- \*\*([A-Z]+-\d+)\*\* (.*?)(?=^- \*\*|^#|\Z)", re.MULTILINE | re.DOTALL)
# Numbers of lists that are not in the tree: I3, S1, RC-027, G-D2.
OLD_NUMBER = re.compile(r"(?<![\w%-])(?:[A-Z]\d{1,2}|RC-\d+|G-[A-Z]?\d+)\b(?![/%])|\bfacts/")
# Strings come first, since they may hold what looks like a comment.
COMMENT = re.compile(r'R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|(?P<said>//[^\n]*|/\*.*?\*/)',
                     re.DOTALL)
OLD_LABEL = re.compile(r'"([A-Z]\d{1,2}): ')

ROOTS = ("src", "docs", "tests", "tools", "include", "demo", "bench", "examples", "cmake")
PATH = re.compile(r"(?<![\w/.~$}+-])(?:" + "|".join(ROOTS) + r")/(?:[\w./*<>$+-]|\{[\w.,*-]*\})+")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
CITED_TEST = re.compile(r"`([A-Z]\w+\.(?:\*|[a-z]+_\w+))`")
HEADER = re.compile(r"(?<![\w/.-])([a-z]+(?:/[a-z_0-9]+)+\.(?:h|cc))\b")
STEP = re.compile(r"^\d+\. `([\w/.]+)` `([\w:]+)`", re.MULTILINE)
TEST = re.compile(r"^[ \t]*(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


class Tree:
    """What there is to cite, read once for each tree."""

    def __init__(self, root):
        self.root = root
        document = root / DOCUMENT
        self.invariants = {}
        if document.exists():
            for match in ENTRY.finditer(document.read_text(encoding="utf-8")):
                self.invariants.setdefault(match[1], match[2])
        self.tests = set()
        for folder in ("src", "tests", "demo", "bench"):
            for path in sorted(root.glob(folder + "/**/*")):
                if path.suffix in (".cc", ".h"):
                    text = path.read_text(encoding="utf-8", errors="replace")
                    self.tests.update(f"{suite}.{name}" for suite, name in TEST.findall(text))


def tree_of(file, cache={}):
    # One tree at a time: tidy reads one, its test many.
    if cache.get("root") != file.root:
        cache.update(root=file.root, tree=Tree(file.root))
    return cache["tree"]


def comments(file):
    """(position, text) of what is said to readers."""
    if file.path.endswith(".md"):
        return [(0, file.text)]
    if file.is_cpp:
        return [(match.start(), match[0]) for match in COMMENT.finditer(file.text) if match["said"]]
    return [(match.start(), match[0]) for match in re.finditer(r"(?:^|\s)#[^\n]*", file.text)]


def check_numbers(file):
    """Cited invariants are in the document; numbers of other lists are gone."""
    if not (file.is_cpp or file.path.endswith(".md")):
        return
    known = tree_of(file).invariants
    for match in NUMBER.finditer(file.text):
        if match[0] not in known:
            yield (line_of(file.text, match.start()), "invariant",
                   f"{match[0]} is not in {DOCUMENT}; add it there, or cite one that is")
    for start, text in comments(file):
        for match in OLD_NUMBER.finditer(text):
            yield (line_of(file.text, start + match.start()), "old-number",
                   f"{match[0]}: nothing in the tree explains it; cite a number of {DOCUMENT}")
    for match in OLD_LABEL.finditer(file.text) if file.is_cpp else ():
        yield (line_of(file.text, match.start()), "old-number",
               f"{match[1]}: nothing in the tree explains it; cite a number of {DOCUMENT}")


def check_invariants(file):
    """Each entry of the document names a check and a test that exist."""
    if file.path != DOCUMENT:
        return
    seen = set()
    for match in ENTRY.finditer(file.text):
        name, body = match[1], " ".join(match[2].split())
        line = line_of(file.text, match.start())
        if name in seen:
            yield line, "invariant", f"{name} is there twice"
        seen.add(name)
        if name.split("-")[0] not in FAMILIES:
            yield line, "invariant", f"{name}: add its family to FAMILIES in tools/citations.py"
        for problem in problems_of(name, body, tree_of(file)):
            yield line, "invariant", f"{name}: {problem}"


def problems_of(name, body, tree):
    _, _, rest = body.partition("Checked by ")
    checked, _, tested = rest.partition("Tested by ")
    files = re.findall(r"`([^`]+)`((?: \((?:“[^”]*”(?:, )?)+\))?)", checked)
    if not files:
        yield "say what checks it: Checked by `file` (“text of the check”)."
    elif not any(quotes or cites(tree.root / path, name) for path, quotes in files):
        yield f"quote a check, or cite {name} in {files[0][0]} or its header"
    for path, quotes in files:
        if not (tree.root / path).is_file():
            yield f"checked by {path}, which does not exist"
            continue
        text = (tree.root / path).read_text(encoding="utf-8", errors="replace")
        for quote in re.findall(r"“([^”]*)”", quotes):
            if quote not in text:
                yield f"{path} has no check “{quote}” any more"
    tests = re.findall(r"`(\w+\.\w+)`", tested)
    if not tests:
        yield "say what tests it: Tested by `Suite.name`."
    for test in tests:
        if test not in tree.tests:
            yield no_test(test, tree.tests)


def cites(path, name):
    """Whether the source or its header cites the number."""
    return any(re.search(re.escape(name) + r"\b", place.read_text(encoding="utf-8", errors="replace"))
               for place in (path, path.with_suffix(".h")) if place.is_file())


def check_paths(file):
    """Cited files and folders exist."""
    for start, text in comments(file):
        for path, position in cited_paths(text):
            if not exists(file.root, path):
                yield line_of(file.text, start + position), "cited-path", f"{path} does not exist"
        if file.is_cpp or file.path.endswith(".md"):
            for match in HEADER.finditer(text):
                if not is_source(file.root, match[1]):
                    yield (line_of(file.text, start + match.start()), "cited-path",
                           f"{match[1]} does not exist")
    if file.path.endswith(".md"):
        yield from check_links(file)


def check_links(file):
    own = file.root / file.path
    for match in LINK.finditer(file.text):
        target, anchor = match[1], match[2]
        if "://" in target:
            continue
        page = own.parent / target if target else own
        if not page.exists():
            yield line_of(file.text, match.start()), "cited-path", f"the link to {target} leads nowhere"
        elif anchor and page.suffix == ".md" and anchor not in anchors(page):
            yield line_of(file.text, match.start()), "cited-path", f"{target} has no heading for #{anchor}"


def anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_tests(file):
    """Tests that documents name exist."""
    if not file.path.endswith(".md") or file.path == DOCUMENT:
        return
    tests = tree_of(file).tests
    for match in CITED_TEST.finditer(file.text):
        if match[1].endswith(".*"):
            missing = not any(test.startswith(match[1][:-1]) for test in tests)
        else:
            missing = match[1] not in tests
        if missing:
            yield line_of(file.text, match.start()), "cited-test", no_test(match[1], tests)


def no_test(test, tests):
    near = difflib.get_close_matches(test, sorted(tests), 1, 0.6)
    return f"there is no test {test}" + (f"; was it renamed to {near[0]}?" if near else "")


def check_steps(file):
    """A step of a walk through the code names a function that its file has."""
    if not file.path.endswith(".md"):
        return
    for match in STEP.finditer(file.text):
        path, function = match.groups()
        source = file.root / path
        if source.is_file() and not re.search(re.escape(function) + r"\s*\(", source.read_text(encoding="utf-8")):
            yield line_of(file.text, match.start()), "cited-path", f"{path} has no {function}()"


def cited_paths(text):
    for match in PATH.finditer(text):
        for path in spread(match[0].rstrip(".-,")):
            if not re.search(r"[*<>${}]", path):
                yield path, match.start()


def spread(path):
    """src/{a,b}.h as src/a.h and src/b.h."""
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    return [whole for part in match[1].split(",")
            for whole in spread(path[:match.start()] + part + path[match.end():])]


def exists(root, path):
    return (root / path).exists() or (root / (path + ".h")).exists()


def is_source(root, path):
    places = ("", "src", "tests", "include")
    return any((root / place / path).exists() for place in places) or not any(
        (root / place / path.split("/")[0]).is_dir() for place in places)


RULES = {
    "invariant": f"a cited invariant is in {DOCUMENT}, and names a check and a test that exist",
    "old-number": "no numbers of lists that are not in the tree",
    "cited-test": "tests that documents name exist",
    "cited-path": "files, folders and links that comments and documents cite exist",
}
CHECKS = [check_numbers, check_invariants, check_tests, check_paths, check_steps]
