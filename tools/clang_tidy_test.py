#!/usr/bin/env python3
"""Tests of tools/clang_tidy, with the clang-tidy and the rules that it runs with."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "clang_tidy"

CLEAN = """#include "text.h"

namespace sample {{

int length_of_{0}(const char* text) {{
    return text == nullptr ? 0 : length(text) + {0};
}}

}}  // namespace sample
"""
HEADER = """#pragma once
namespace sample {
inline int length(const char* text) {
    return text[0] == 0 ? 0 : 1;
}
}  // namespace sample
"""


class Checkout:
    """A folder with sources of one library, its rules and its compile commands."""

    def __init__(self, folder, count=3):
        self.folder = Path(folder)
        (self.folder / "src").mkdir()
        (self.folder / ".clang-tidy").write_bytes((ROOT / ".clang-tidy").read_bytes())
        self.write("text.h", HEADER)
        self.names = [f"part_{number}.cc" for number in range(count)]
        for number, name in enumerate(self.names):
            self.write(name, CLEAN.format(number))

    def write(self, name, text):
        (self.folder / "src" / name).write_text(text)

    def append(self, name, text):
        with (self.folder / "src" / name).open("a") as file:
            file.write(text)

    def run(self, *sources, flags="-Wshadow -Werror"):
        commands = []
        for name in self.names:
            path = self.folder / "src" / name
            commands.append({
                "directory": str(self.folder), "file": str(path),
                "command": f"ccache /usr/bin/clang++-14 -std=gnu++20 {flags} -I{self.folder}/src "
                           f"-o lib.dir/{name}.o -c {path}"})
        (self.folder / "build").mkdir(exist_ok=True)
        (self.folder / "build" / "compile_commands.json").write_text(json.dumps(commands))
        wanted = sources or [f"src/{name}" for name in self.names]
        done = subprocess.run(
            [sys.executable, str(TOOL), "build", *wanted], cwd=self.folder, capture_output=True, text=True,
            env=dict(os.environ, XDG_CACHE_HOME=str(self.folder / "cache")), check=False)
        return done.returncode, done.stdout + done.stderr


class ClangTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = Checkout(os.path.realpath(folder.name))

    def finds(self, expected, name="part_1.cc"):
        code, output = self.checkout.run()
        self.assertEqual(code, 1, output)
        self.assertRegex(output, rf"/src/{name}:\d+:\d+: error: .*{expected}")
        for other in self.checkout.names:
            if other != name:
                self.assertNotIn(f"/src/{other}:", output)

    def test_says_nothing_of_clean_sources(self):
        code, output = self.checkout.run()
        self.assertEqual((code, output), (0, "src/part_0.cc src/part_1.cc src/part_2.cc\n"))

    def test_finds_a_name_of_the_wrong_form(self):
        self.checkout.append("part_1.cc", "namespace sample {\nint WrongName() { return 1; }\n}\n")
        self.finds("readability-identifier-naming")

    def test_finds_a_mistake_by_its_syntax(self):
        self.checkout.append("part_1.cc", "int twice(int a) {\n    if (a == 1 || a == 1) return 2;\n"
                                          "    return sizeof(sizeof(a)) > 1 ? 1 : 0;\n}\n")
        self.finds("bugprone-sizeof-expression")

    def test_finds_a_null_pointer_that_is_followed(self):
        self.checkout.append("part_1.cc", "int follow(const int* a) {\n    int sum = 0;\n"
                                          "    if (a == nullptr) sum = 1;\n    return sum + *a;\n}\n")
        self.finds("clang-analyzer-core.NullDereference")

    def test_finds_it_though_all_callers_in_other_sources_are_right(self):
        self.checkout.append("part_2.cc", "int follow(const int* a) {\n    int sum = 0;\n"
                                          "    if (a == nullptr) sum = 1;\n    return sum + *a;\n}\n")
        self.checkout.append("part_1.cc", "int follow(const int* a);\n"
                                          "int call() {\n    const int one = 1;\n    return follow(&one);\n}\n")
        self.finds("clang-analyzer-core.NullDereference", "part_2.cc")

    def test_finds_an_include_that_only_a_neighbour_has(self):
        self.checkout.write("part_1.cc", CLEAN.format(1).replace('#include "text.h"\n', ""))
        self.finds("undeclared identifier")

    def test_finds_what_is_wrong_in_a_header(self):
        self.checkout.write("text.h", HEADER + "inline int WrongName() { return 1; }\n")
        code, output = self.checkout.run()
        self.assertEqual(code, 1, output)
        self.assertRegex(output, r"/src/text.h:\d+:\d+: error: .*readability-identifier-naming")

    def test_sources_that_cannot_be_joined_are_read_alone(self):
        for name in ("part_0.cc", "part_1.cc"):
            self.checkout.append(name, "namespace {\n[[maybe_unused]] int twice() { return 1; }\n}\n")
        code, output = self.checkout.run()
        self.assertEqual(code, 0, output)
        self.assertIn("they cannot be joined", output)

        self.checkout.append("part_2.cc", "namespace sample {\nint WrongName() { return 1; }\n}\n")
        self.finds("readability-identifier-naming", "part_2.cc")

    def test_looks_again_only_at_what_has_changed(self):
        self.checkout.run()
        self.assertEqual(self.checkout.run(), (0, ""))

        self.checkout.append("part_1.cc", "// more\n")
        self.assertEqual(self.checkout.run(), (0, "src/part_1.cc\n"))
        self.checkout.write("text.h", HEADER + "// more\n")
        everything = (0, "src/part_0.cc src/part_1.cc src/part_2.cc\n")
        self.assertEqual(self.checkout.run(), everything)
        self.checkout.write("text.h", HEADER)
        self.assertEqual(self.checkout.run(), (0, ""))
        self.assertEqual(self.checkout.run(flags="-O1"), everything)
        with (self.checkout.folder / ".clang-tidy").open("a") as file:
            file.write("# more\n")
        self.assertEqual(self.checkout.run(), everything)

    def test_what_was_found_is_found_again(self):
        self.checkout.append("part_1.cc", "namespace sample {\nint WrongName() { return 1; }\n}\n")
        self.finds("readability-identifier-naming")
        code, output = self.checkout.run()
        self.assertEqual(code, 1)
        self.assertTrue(output.startswith("src/part_1.cc\n"), output)

    def test_refuses_a_source_that_the_build_does_not_know(self):
        self.checkout.write("other.cc", "")
        code, output = self.checkout.run("src/other.cc")
        self.assertEqual((code, output), (1, "src/other.cc is not in build/compile_commands.json\n"))


if __name__ == "__main__":
    unittest.main()
