#!/usr/bin/env python3
"""Shows that each rule of tools/tidy finds its bad sample and lets the good one pass."""

import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True


def load(name):
    path = Path(__file__).resolve().parent / name
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


tidy = load("tidy")
OPEN = "FIX" + "ME"
TESTS = tidy.TESTS

INVARIANTS = tidy.citations.DOCUMENT


def entry(name="LOG-1", checked="`src/hub/hub.h` (“once”)", tested="`Hub.keeps_order`"):
    return f"- **{name}** Order stays. Checked by {checked}.\n  Tested by {tested}.\n"


NO_TEST = "// tidy: no test: a sample\n"

# rule: [(path, text)] that must each be found.
BAD = {
    "layer": [
        ("src/commitlog/a.h", '#pragma once\n#include "hub/hub.h"\n'),
        ("src/base/a.h", '#pragma once\n#include "io/file.h"\n'),
        ("src/hub/a_test.cc", '#include "door/door.h"\n'),
        ("src/hub/a.h", '#pragma once\n#include "io/sim/disk.h"\n'),
        ("src/hub/b.h", '#pragma once\n#include "support/seed.h"\n'),
        ("src/unheard/a.h", "#pragma once\n"),
        ("src/hub/CMakeLists.txt", "ek_module(hub DEPS base io door\n    SOURCES hub.cc)\n"),
    ],
    "order": [
        ("src/CMakeLists.txt", "add_subdirectory(base)\nadd_subdirectory(io)\nadd_subdirectory(hub)\n"),
        ("src/README.md", "| `hub` | events |\n| `base` | tools |\n"),
        ("docs/architecture.md", "| `hub` | events | base io |\n| `base` | tools | – |\n"),
    ],
    "shared": [("src/hub/a.cc", NO_TEST + "Guarded<int> count_;\n")],
    "public-header": [
        ("include/evenkeel/a.h", '#pragma once\n#include "base/bytes.h"\n'),
        ("include/evenkeel/b.h", "#pragma once\n#include <fmt/core.h>\n"),
        ("include/evenkeel/c.h", "#pragma once\n#include <unistd.h>\n"),
    ],
    "clock": [
        ("src/hub/a.h", "#pragma once\nauto now = std::chrono::steady_clock::now();\n"),
        ("src/hub/a_test.cc", "auto now = std::chrono::system_clock::now();\n"),
        ("src/hub/b.h", "#pragma once\nauto now = time(nullptr);\n"),
        ("src/hub/c.h", "#pragma once\nint now = gettimeofday(&value, nullptr);\n"),
    ],
    "sleep": [
        ("src/hub/a.h", "#pragma once\nvoid f() { std::this_thread::sleep_for(1s); }\n"),
        ("src/hub/b.h", "#pragma once\nvoid f() { usleep(5); }\n"),
        ("src/io/a_test.cc", "void f() { std::this_thread::sleep_until(later); }\n"),
        (f"{TESTS}/fault/a.cc", "void f() { sleep(1); }\n"),
        ("src/hub/c.h", "#pragma once\nvoid f() { ::poll(nullptr, 0, 10); }\n"),
        ("src/host/a_test.cc", "void f() { poll(NULL, 0, 10); }\n"),
    ],
    "process": [
        ("src/hub/a.h", "#pragma once\nint f() { return ::fork(); }\n"),
        ("src/hub/b.h", "#pragma once\nint f() { return posix_spawn(&id, path, 0, 0, 0, 0); }\n"),
        ("src/host/a.h", "#pragma once\nint f() { return vfork(); }\n"),
    ],
    "thread": [
        ("src/hub/a.h", "#pragma once\nstd::thread worker;\n"),
        ("src/hub/b.h", "#pragma once\nstd::jthread worker;\n"),
    ],
    "throw": [("src/base/a.h", "#pragma once\nvoid f() { throw 1; }\n")],
    "random": [
        ("src/hub/a.h", "#pragma once\nstd::random_device device;\n"),
        ("src/hub/b.h", "#pragma once\nint number = rand();\n"),
    ],
    "file": [
        ("src/hub/a.h", '#pragma once\nint f = ::open("x", 0);\n'),
        ("src/hub/b.h", '#pragma once\nauto* f = fopen("x", "r");\n'),
        ("src/hub/c.h", "#pragma once\nstd::ofstream out;\n"),
        ("src/hub/d.h", "#pragma once\nstd::ifstream in;\n"),
    ],
    "lifetime": [
        ("src/hub/a.h", "#pragma once\nstd::shared_ptr<bool> here = std::make_shared<bool>(true);\n"),
        ("src/hub/b.h", "#pragma once\nstd::weak_ptr<const char> token;\n"),
        ("src/hub/c.h", "#pragma once\nstd::shared_ptr<Hub> alive_{this, [](Hub*) {}};\n"),
        ("src/hub/a_test.cc", "const std::shared_ptr<char> token = std::make_shared<char>();\n"),
    ],
    "lock": [
        ("src/hub/a.h", "#pragma once\nMutex mutex_;\n"),
        ("src/hub/b.h", "#pragma once\n#include <mutex>\n"),
        ("src/hub/c.h", "#pragma once\nstd::shared_mutex lock_;\n"),
        ("src/hub/d.h", "#pragma once\nstd::condition_variable changed_;\n"),
        ("src/hub/a_test.cc", '#include "base/mutex.h"\n'),
    ],
    "sync": [("src/commitlog/a.h", "#pragma once\nint r = fdatasync(f);\n")],
    "length": [("src/hub/a.h", "#pragma once\n" + "int x;\n" * 600)],
    "seed": [(TESTS + "/process/a_test.cc", "Random random(test_seed());\n")],
    "open-work": [
        ("src/hub/a.h", f"#pragma once\n// {OPEN}: later\n"),
        ("docs/a.md", f"{OPEN}\n"),
    ],
    "split-class": [
        ("src/hub/more.cc", NO_TEST + "namespace evenkeel::hub {\nvoid Sample::stop() {}\n"),
        ("src/hub/room/more.cc", NO_TEST + "namespace evenkeel::hub {\nResult<std::vector<int>> Sample::list(\n"),
        ("src/hub/more.cc", NO_TEST + "namespace evenkeel::hub {\nCallback<void(int)> Sample::then(int x) {\n"),
        ("src/hub/more.cc", NO_TEST + "namespace evenkeel::hub {\nSample::~Sample() = default;\n"),
        ("src/hub/more.cc", NO_TEST + "namespace evenkeel::hub {\nbool Sample::Part::stop() {}\n"),
    ],
    "test-beside": [("src/hub/alone.cc", "int x;\n")],
    "pragma-once": [("src/hub/a.h", "int x;\n")],
    "quotes": [
        ("src/hub/a.h", "#pragma once\n#include <hub/hub.h>\n"),
        ("src/hub/b.h", '#pragma once\n#include "hub.h"\n'),
        ("src/hub/c.h", '#pragma once\n#include "evenkeel/hub.h"\n'),
    ],
    "heavy-header": [
        ("src/hub/a.h", "#pragma once\n#include <filesystem>\n"),
        ("src/hub/b.h", "#pragma once\n#include <boost/asio.hpp>\n"),
        ("src/cli/c.h", "#pragma once\n#include <CLI/CLI.hpp>\n"),
        (f"{TESTS}/support/d.h", "#pragma once\n#include <regex>\n"),
    ],
    "test-name": [
        ("src/hub/a_test.cc", "TEST(Hub, CreatesThings) {}\n"),
        ("src/hub/b_test.cc", "TEST(Hub, DISABLED_creates_things) {}\n"),
        ("src/hub/c_test.cc", "TEST_F(hub_test,\n       creates_things) {}\n"),
        (f"{TESTS}/sim/d_test.cc", "TEST(Hub, creates__things) {}\n"),
        ("src/hub/e_test.cc", "TEST(Hub, keeps_the_order_L3) {}\n"),
        ("src/hub/f_test.cc", f"TEST(Hub, {'keeps_' * 10}it) {{}}\n"),
    ],
    "skip-reason": [("src/hub/a_test.cc", "TEST(Hub, is_there) { GTEST_SKIP(); }\n")],
    "whitespace": [
        ("src/hub/a.h", "#pragma once\nint x; \n"),
        ("src/hub/b.h", "#pragma once\nint x;"),
        ("src/hub/c.h", "#pragma once\n\tint x;\n"),
        ("docs/d.md", "text\n\n"),
    ],
    "columns": [("src/hub/a.h", "#pragma once\n// " + "ü" * 98 + "\n")],
    "executable": [("tools/a", "#!/bin/sh\n"), (f"{TESTS}/fault/a.py", "#!/usr/bin/env python3\n")],
    "allow": [
        ("src/hub/a.h", "#pragma once\nint x;  // tidy: allow clock\n"),
        ("src/hub/b.h", "#pragma once\nint x;  // tidy: allow unheard: of\n"),
    ],
    "invariant": [
        ("src/hub/a.h", "#pragma once\n// The order stays (LOG-99).\n"),
        ("src/hub/a.cc", '// tidy: no test: a sample\nEK_CHECK(x, "HUB-98: y");\n'),
        ("docs/a.md", "As OWN-97 says.\n"),
        (INVARIANTS, entry(checked="")),
        (INVARIANTS, entry(checked="`src/hub/gone.h`")),
        (INVARIANTS, entry(checked="`src/hub/hub.h` (“a text that is not there”)")),
        (INVARIANTS, entry(checked="`src/hub/hub.h`")),
        (INVARIANTS, entry(tested="")),
        (INVARIANTS, entry(tested="`Hub.forgets_all`")),
        (INVARIANTS, entry() + entry()),
        (INVARIANTS, entry(name="ODD-1")),
    ],
    "old-number": [
        ("src/hub/a.h", "#pragma once\n// The order stays (I3).\n"),
        ("src/hub/b.h", "#pragma once\nint x;  // RC-0" + "27, see facts/x.md\n"),
        ("src/hub/c.h", '#pragma once\nauto x = "A4: twice";\n'),
        ("docs/a.md", "The checker C2 of H6.\n"),
    ],
    "cited-test": [
        ("docs/a.md", "`Hub.forgets_all` shows it.\n"),
        ("docs/b.md", "`Nobody.*` shows it.\n"),
    ],
    "cited-path": [
        ("src/hub/a.h", "#pragma once\n// Format: docs/gone.md.\n"),
        ("src/hub/b.h", "#pragma once\n// Inside of hub/gone.h.\n"),
        ("docs/a.md", "`src/hub/gone.cc` does it.\n"),
        ("docs/b.md", "[more](gone.md#there)\n"),
        ("docs/d.md", "# One\n\n[more](#two)\n"),
        ("docs/e.md", "`src/hub/{hub,gone}.h` and more.\n"),
        ("docs/f.md", "`hub/gone.h` has it.\n"),
        ("docs/c.md", "1. `src/hub/hub.h` `Hub::gone`: does it.\n"),
        ("tools/a", "#!/bin/sh\n# tests/gone has more\n"),
    ],
}

# Those that the good samples have, in order.
MODULES = ["base", "io", "door", "hub", "commitlog", "cli"]

# Close to a rule, but right.
GOOD = [
    ("include/evenkeel/event.h", "#pragma once\n#include <cstdint>\n#include <evenkeel/hub.h>\n"),
    ("src/hub/a.h", '#pragma once\n#include <evenkeel/hub.h>\n#include "commitlog/log.h"\n'),
    ("src/hub/a.cc", '#include "hub/hub.h"\n#include <filesystem>\nauto log = Log::open("x");\n'),
    ("src/hub/a_test.cc", '#include "io/sim/disk.h"\n#include "support/seed.h"\n'
                          "// LOG-1\nTEST(Hub, keeps_the_order_of_2) { std::jthread helper; }\n"
                          'TEST(Hub, is_skipped) { GTEST_SKIP() << "why"; }\n'),
    ("src/hub/hub_fixture.h", '#pragma once\n#include "io/sim/disk.h"\n#include "support/seed.h"\n'),
    ("src/hub/b.h", '#pragma once\n// throw, std::thread\nauto x = "sleep_for(1)";\n'
                    "auto id = std::thread::id{};\nint y = 1'000'000; /* rand() */\n"),
    ("src/cli/b.h", "#pragma once\nint f() { return fork(); }\n"),
    ("src/io/b.h", "#pragma once\nint f() { return poll(nullptr, 0, 10); }\n"),
    ("src/hub/d.h", "#pragma once\nauto r = random.fork();\nint n = poll(all, 2, 10);\n"),
    ("src/hub/c.h", "#pragma once\nstd::thread t;  // tidy: allow thread: a sample\n"),
    ("src/io/d.h", "#pragma once\nauto t = steady_clock::now();\nint f = fdatasync(1);\n"),
    ("src/io/e.h", '#pragma once\n#include "base/mutex.h"\nMutex mutex_;\n'),
    ("src/hub/i.h", "#pragma once\n// Without a mutex.\nGuarded<int> count_;\n"),
    (f"{TESTS}/process/a.h", '#pragma once\n#include "base/mutex.h"\nMutex mutex_;\n'),
    ("src/hub/e.cc", "// A sample.\n// tidy: no test: a sample\n"),
    ("src/hub/split.cc", NO_TEST + "namespace evenkeel::hub {\nnamespace {\nvoid Sample::run() {}\n}  // namespace\n"
                         "Sample::Kind Other::find(int x) {\n    return Sample::kind(x);\n}\n"
                         "void use(Callback<Sample::Kind()> made, int y = Sample::max()) {}\n"
                         "void Sample::Member::run() {}\n"),
    ("src/door/split.cc", NO_TEST + "namespace evenkeel::door {\nvoid Sample::start() {}\n"),
    ("src/hub/split_test.cc", "namespace evenkeel::hub {\nvoid Sample::stop() {}\n"),
    ("src/cli/main.cc", '#include "hub/hub.h"\n#include "door/door.h"\n'),
    ("src/io/CMakeLists.txt", "ek_module(io DEPS base\n    SOURCES a.cc)\nek_module(io_sim DEPS base io)\n"),
    ("src/base/lifetime.h", "#pragma once\nstd::shared_ptr<const char> token_;\n"),
    ("src/hub/h.h", "#pragma once\nbool keeps_alive_ = true;\nstd::shared_ptr<const Bytes> bytes;\n"),
    ("src/hub/f.h", "#pragma once\n// " + "ü" * 97 + "\nvoid operand(int);\n"),
    (INVARIANTS, "# Invariants\n\n" + entry() + entry(name="LOG-2") + "\n## More\n\n" + entry(name="HUB-1")),
    ("src/hub/g.h", '#pragma once\n// LOG-2, AMQP-1.0, UTF-8; docs/invariants.md, hub/hub.h, src/hub, gone/gone.h\n'
                    'auto url = "https://host/a%20/%C3%A4 I3";  // built with -O2 in build/dev/src/gone\n'),
    ("docs/h.md", "# Why, and how: it's `x`\n\n[see](#why-and-how-its-x) `Hub.keeps_order`, `Hub.*`, `hub.keeps_no`\n"),
    ("docs/g.md", "[one](invariants.md#more) [two](https://example.com/x) `src/{hub,door}/*.h`, HUB-1\n"),
    ("src/CMakeLists.txt", "".join(f"add_subdirectory({module})\n" for module in MODULES)),
    ("docs/architecture.md", "".join(f"| `{module}` | text | – |\n" for module in MODULES) + "| `src/hub/i.h` | it |\n"),
    ("src/README.md", "".join(f"| `{module}` | text |\n| `{module}/room` | text |\n" for module in MODULES)),
    (f"{TESTS}/data/golden.txt", "as it must be \n"),
    ("build/dev/a.h", "anything "),
]

# Files the samples refer to.
AROUND = ["include/evenkeel/hub.h", "src/base/bytes.h", "src/io/file.h", "src/io/sim/disk.h",
          "src/base/mutex.h", "src/hub/hub.h", "src/door/door.h", "src/commitlog/log.h", f"{TESTS}/support/seed.h"]
# A test that the samples of invariants name, and a class of which others define methods.
KNOWN_TEST = ("src/hub/known_test.cc", "TEST_F(Hub,\n       keeps_order) {}\n")
KNOWN_SOURCE = ("src/hub/known.cc", "namespace evenkeel::hub {\nvoid Sample::start() {}\nvoid Sample::Part::run() {}\n")


def findings(samples):
    """What tidy prints for a tree that holds the samples."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in [(path, "#pragma once\n// once\n") for path in AROUND] + [KNOWN_TEST, KNOWN_SOURCE] + samples:
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            tidy.tidy(Path(folder))
        return output.getvalue()


class Tidy(unittest.TestCase):
    def test_each_rule_has_a_bad_sample(self):
        self.assertEqual(set(BAD), set(tidy.RULES))

    def test_each_bad_sample_is_found(self):
        for rule, samples in BAD.items():
            for path, text in samples:
                with self.subTest(rule=rule, path=path):
                    self.assertIn(f" {rule}: ", findings([(path, text)]))

    def test_good_samples_pass(self):
        self.assertEqual(findings(GOOD), "")

    def test_a_long_file_is_warned_about(self):
        text = findings([("src/hub/a.h", "#pragma once\n" + "int x;\n" * 499)])
        self.assertIn("warning: 500 lines", text)

    def test_a_renamed_test_is_suggested(self):
        text = findings([(INVARIANTS, entry(tested="`Hub.keeps_the_order`"))])
        self.assertIn("LOG-1: there is no test Hub.keeps_the_order; was it renamed to Hub.keeps_order?", text)

    def test_a_finding_names_the_line(self):
        text = findings([("src/hub/a.h", "#pragma once\n/* two\n lines */\nstd::thread t;\n")])
        self.assertTrue(text.startswith("src/hub/a.h:4: thread: "), text)


if __name__ == "__main__":
    unittest.main()
