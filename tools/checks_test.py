#!/usr/bin/env python3
"""Tests of tools/checks."""

import importlib.machinery
import importlib.util
import tempfile
import unittest
from pathlib import Path

loader = importlib.machinery.SourceFileLoader("checks", str(Path(__file__).parent / "checks"))
checks = importlib.util.module_from_spec(importlib.util.spec_from_loader("checks", loader))
loader.exec_module(checks)


class Checks(unittest.TestCase):
    def sources(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "src" / "io" / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return checks.in_sources(Path(folder))

    def test_looks_into_each_folder_of_the_sources(self):
        folders = {path.parent.name for path in (Path(__file__).parent.parent / "src").glob("*/CMakeLists.txt")}
        self.assertEqual(set(checks.FOLDERS), folders)

    def test_finds_a_check_over_several_lines_with_brackets_and_strings(self):
        source = 'EK_CHECK(f(")", a(1)) == 1,\n         "a \\"quoted\\" why");'
        self.assertEqual(self.sources("a.cc", source), {("src/io/a.cc", 'a \\"quoted\\" why')})

    def test_leaves_tests_fixtures_and_the_definition_alone(self):
        self.assertEqual(self.sources("check.h", "#define EK_CHECK(condition, why) \\\n    do {} while (false)"), set())
        for name in ["a_test.cc", "a_fuzz.cc", "a_fixture.h", "a_contract.h"]:
            self.assertEqual(self.sources(name, 'EK_CHECK(a, "b");'), set())

    def test_reports_what_is_missing_and_what_has_gone(self):
        document = checks.in_document("| `src/io/a.cc` | “one”, “gone” |\n| other | “text” |\n")
        found = checks.problems({("src/io/a.cc", "one"), ("src/io/a.cc", "new")}, document)
        self.assertEqual(len(found), 2)
        self.assertIn("missing: src/io/a.cc: new", found[0])
        self.assertIn("src/io/a.cc: gone", found[1])


if __name__ == "__main__":
    unittest.main()
