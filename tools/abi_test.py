#!/usr/bin/env python3
"""Shows what tools/abi finds: headers with planted changes of the layout, and what it says of each."""

import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

HEADER = """#pragma once
namespace evenkeel {
enum class Colour : unsigned char { red, green };
struct Point { int x; int y; Colour colour; };
class Shape {
public:
    virtual ~Shape() = default;
    virtual int area() = 0;
    virtual int sides() = 0;
};
namespace detail { struct Hidden { int a; }; }
}
"""


def load(path):
    loader = importlib.machinery.SourceFileLoader(path.name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(path.name, loader))
    loader.exec_module(module)
    return module


abi = load(Path(__file__).resolve().parent / "abi")


class Layouts(unittest.TestCase):
    def layout(self, old="", new=""):
        with tempfile.TemporaryDirectory() as folder:
            headers = Path(folder) / "include" / "evenkeel"
            headers.mkdir(parents=True)
            self.assertIn(old, HEADER)
            (headers / "shape.h").write_text(HEADER.replace(old, new))
            return abi.layout(Path(folder))

    def test_types_members_enumerators_and_virtual_functions_are_listed(self):
        found = self.layout()
        for line in ("Point 12 bytes", "Point.x @0", "Point.y @4", "Point.colour @8", "Colour 1 bytes",
                     "Colour::green = 1", "Shape 8 bytes", "Shape virtual 2 _ZN8evenkeel5Shape4areaEv",
                     "Shape virtual 3 _ZN8evenkeel5Shape5sidesEv"):
            self.assertIn(line, found)
        self.assertFalse([line for line in found if "Hidden" in line])

    def test_planted_changes_are_found(self):
        same = self.layout()
        for old, new in (("int x; int y;", "int y; int x;"), ("int x;", "long x;"), ("red, green", "green, red"),
                         ("virtual int area() = 0;", ""), ("virtual int area() = 0;", "virtual long area(int) = 0;"),
                         (" : unsigned char", "")):
            self.assertNotEqual(self.layout(old, new), same, f"{old} -> {new}")
        self.assertEqual(self.layout("int a;", "long a;"), same, "what is no part of the interface may change")


if __name__ == "__main__":
    unittest.main()
