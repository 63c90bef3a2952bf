#!/usr/bin/env python3
"""Shows what tests/docs/blocks finds: pages with planted mistakes, and what it says of each."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    sys.modules[path.name] = module
    loader.exec_module(module)
    return module


blocks = load(Path(__file__).resolve().parent / "blocks")


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Path(folder.name)
        prefix = self.work / "prefix"
        (prefix / "bin").mkdir(parents=True)
        # A package without a library: what is compiled here needs none.
        (prefix / "evenkeel.pc").write_text("Name: evenkeel\nDescription: none\nVersion: 1\nCflags:\nLibs:\n")
        program = prefix / "bin" / "evenkeel"
        program.write_text('#!/bin/sh\necho "$@"\n')
        program.chmod(0o755)
        self.reader = blocks.Reader(self.work, prefix)

    def read(self, *lines):
        try:
            self.reader.read("page.md", "\n".join(lines) + "\n")
        finally:
            self.reader.finish()
        return self.reader.mistakes

    def test_a_good_page_has_no_mistakes(self):
        mistakes = self.read("```sh", "export A=5  # stays", "alias say=echo", "cat >two.txt <<'END'", "one", "two",
                             "END", "```", "```console", "$ cat two.txt", "one", "…", "$ say $A \\", "   six", "5 …x",
                             "```")
        self.assertEqual(mistakes, [])
        self.assertEqual(self.reader.done, 2)

    def test_a_command_that_fails_is_named_with_its_line_and_output(self):
        mistakes = self.read("# A page", "", "```sh", "true", "echo no such hub; exit_code() { return 3; }; exit_code",
                             "touch not_reached", "```")
        self.assertEqual(len(mistakes), 1)
        self.assertTrue(mistakes[0].startswith("page.md:5: `echo no such hub;"), mistakes)
        self.assertIn("ended with 3 and printed:\n    no such hub", mistakes[0])
        self.assertEqual(list(self.work.rglob("not_reached")), [])

    def test_a_command_that_does_not_exist_is_a_mistake(self):
        self.assertIn("page.md:2: `evnkeel read` ended with 127", self.read("```sh", "evnkeel read", "```")[0])

    def test_output_that_differs_is_shown_beside_what_is_documented(self):
        mistakes = self.read("```console", "$ echo 12 events", "13 events", "```")
        self.assertIn("page.md:2: `echo 12 events` printed:\n    12 events\n    but the document shows:\n    13 events",
                      mistakes[0])

    def test_output_that_is_missing_or_left_over_is_a_mistake(self):
        self.assertEqual(len(self.read("```console", "$ echo one", "one", "two", "```")), 1)

    def test_a_command_sees_a_terminal(self):
        self.assertEqual(self.read("```console", "$ test -t 1 && stty size <&1", "50 100", "```"), [])

    def test_cpp_that_does_not_compile_is_named_by_its_line_in_the_page(self):
        mistakes = self.read("", "```cpp", "int main() {", "    return no_such_name;", "}", "```")
        self.assertIn("page.md:2: this C++ does not compile", mistakes[0])
        self.assertIn("page.md:4", mistakes[0])

    def test_cpp_without_main_is_a_body_and_a_named_one_is_a_file(self):
        mistakes = self.read("```cpp", "// a.cc", "#include <vector>", "int main() { return std::vector{1}[0] - 1; }",
                             "```", "```cpp", "#include <vector>", "std::cout << std::vector{1}.size();", "```",
                             "```sh", "test -s a.cc", "```")
        self.assertEqual(mistakes, [])

    def test_a_block_that_is_not_run_needs_a_reason(self):
        self.assertEqual(self.read("<!-- not run: it needs a cluster -->", "```sh", "false", "```"), [])
        self.assertEqual(self.reader.not_run, ["page.md:2: it needs a cluster"])

    def test_a_mark_without_a_reason_is_a_mistake(self):
        self.assertIn("page.md:1", self.read("<!-- not run: -->", "```sh", "false", "```")[0])

    def test_a_misspelt_mark_is_a_mistake(self):
        self.assertIn("no such mark", self.read("<!-- not run because -->", "```sh", "true", "```")[0])

    def test_commands_without_a_language_are_a_mistake(self):
        self.assertIn("write ```sh", self.read("```", "evenkeel dev", "```")[0])

    def test_what_has_its_own_terminal_runs_on(self):
        mistakes = self.read("<!-- own terminal, ready when it prints: ready -->", "```sh",
                             "echo $$ >pid; echo ready; exec sleep 1000", "```", "```sh", "kill -0 $(cat pid)", "```")
        self.assertEqual(mistakes, [])

    def test_what_has_its_own_terminal_must_become_ready(self):
        mistakes = self.read("<!-- own terminal, ready when it prints: ready -->", "```sh", "echo busy", "```")
        self.assertIn("page.md:3: `echo busy` ended without 'ready'; it printed:\n    busy", mistakes[0])

    def test_a_hub_gets_ports_that_are_free(self):
        ports = self.reader.ports
        mistakes = self.read("```console", "$ evenkeel dev", f"dev --port {ports['amqp']} --http-port {ports['http']}",
                             "$ echo $EVENKEEL_URL localhost:8080",
                             f"http://localhost:{ports['http']} localhost:{ports['http']}", "```")
        self.assertEqual(mistakes, [])

    def test_a_block_without_an_end_is_a_mistake(self):
        self.assertIn("page.md:1: this block has no end", self.read("```sh", "true")[0])


if __name__ == "__main__":
    unittest.main()
