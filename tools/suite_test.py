#!/usr/bin/env python3
"""Shows how tools/suite counts: what passed, what did not, and what only looks as if it had."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
import report  # noqa: E402

TOOLS = Path(__file__).resolve().parent


def load(name):
    path = TOOLS / name
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


suite = load("suite")

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="AllTests"><testsuite name="Clock">
<testcase name="ticks" status="run" result="completed" classname="Clock" />
<testcase name="waits" status="run" result="skipped" classname="Clock">
  <skipped message="clock_test.cc:3&#x0A;no clock here"><![CDATA[...]]></skipped></testcase>
%s</testsuite></testsuites>
"""
FAILED = """<testcase name="stops" status="run" result="completed" classname="Clock">
  <failure message="clock_test.cc:9&#x0A;it went on" type=""></failure></testcase>
"""


def ran(status="run", output="", reason="SegFault", skipped=""):
    return {"status": status, "output": output, "reason": reason, "skipped": skipped}


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "clock_tests.xml"
        command = ["clock_tests", f"--gtest_output=xml:{self.path}"]
        self.entry = suite.Entry({"name": "clock_tests", "command": command})
        self.entry.expected = ["Clock.ticks", "Clock.waits"]

    def rows(self, text, result):
        if text:
            self.path.write_text(text)
        return suite.program_rows(self.entry, result)

    def test_counts_single_tests_and_gives_the_reason_of_a_skip(self):
        self.assertEqual(self.rows(REPORT % "", ran()), [
            ("passed", "Clock.ticks", ""), ("skipped", "Clock.waits", "no clock here")])

    def test_a_failure_shows_its_message_and_the_seed(self):
        rows = self.rows(REPORT % FAILED, ran("fail", "seed: EVENKEEL_SEED=5\n"))
        self.assertEqual(rows[2][:2], ("failed", "Clock.stops"))
        self.assertIn("it went on\nseed: EVENKEEL_SEED=5", rows[2][2])
        self.assertEqual(len(rows), 3)

    def test_no_report_is_a_crash_and_names_the_test(self):
        output = "[ RUN      ] Clock.ticks\n[       OK ] Clock.ticks (0 ms)\n[ RUN      ] Clock.waits\n"
        rows = self.rows("", ran("fail", output))
        self.assertEqual(rows[0][:2], ("failed", "clock_tests"))
        self.assertTrue(rows[0][2].startswith("no report: SegFault in Clock.waits"))

    def test_a_test_that_is_not_in_the_report_failed(self):
        self.entry.expected.append("Clock.forgotten")
        self.assertEqual(self.rows(REPORT % "", ran())[2][:2], ("failed", "Clock.forgotten"))

    def test_a_bad_end_after_good_tests_is_a_failure(self):
        rows = self.rows(REPORT % "", ran("fail", "LeakSanitizer: 8 bytes", "Failed"))
        self.assertEqual(rows[2][:2], ("failed", "clock_tests"))
        self.assertIn("LeakSanitizer", rows[2][2])

    def test_a_damaged_report_is_a_failure(self):
        self.assertEqual(self.rows("<testsuites>", ran())[0][:2], ("failed", "clock_tests"))


class Scripts(unittest.TestCase):
    def rows(self, result):
        return suite.script_rows(suite.Entry({"name": "tidy", "command": ["tidy"]}), result)

    def test_counts_as_one_test(self):
        self.assertEqual(self.rows(ran()), [("passed", "tidy", "")])
        self.assertEqual(self.rows(ran("fail", "bad line"))[0][0], "failed")

    def test_a_skip_gives_its_last_line_as_the_reason(self):
        rows = self.rows(ran("notrun", "looking\nno docker here\n", skipped="SKIP_RETURN_CODE=77"))
        self.assertEqual(rows, [("skipped", "tidy", "no docker here")])

    def test_what_was_never_built_failed(self):
        self.assertEqual(self.rows(ran("notrun", skipped="Unable to find executable"))[0][0], "failed")


class Filters(unittest.TestCase):
    def chosen(self, *filters):
        entries = [suite.Entry({"name": name, "command": [name]})
                   for name in ("clock_tests", "random_clock_tests", "loop_tests")]
        whole, partial, _ = suite.choose(entries, filters)
        self.assertEqual(partial, [])
        return [entry.name for entry in whole]

    def test_a_part_of_a_name_chooses_all_programs_that_contain_it(self):
        self.assertEqual(self.chosen("clock_test"), ["clock_tests", "random_clock_tests"])

    def test_a_full_name_chooses_that_program_only(self):
        self.assertEqual(self.chosen("clock_tests"), ["clock_tests"])
        self.assertEqual(self.chosen("clock_tests", "loop"), ["clock_tests", "loop_tests"])
        self.assertEqual(self.chosen("clock_tests", "random"), ["clock_tests", "random_clock_tests"])


class Repeats(unittest.TestCase):
    def test_a_failure_names_the_program_the_run_and_the_seed(self):
        rows = suite.of_run([("failed", "Clock.stops", "it went on"), ("passed", "Clock.ticks", "")],
                            "clock_tests", 3, 10, ["seed: EVENKEEL_SEED=5"], set())
        self.assertEqual(rows, [
            ("failed", "Clock.stops", "clock_tests, run 3 of 10, seed: EVENKEEL_SEED=5: it went on"),
            ("passed", "Clock.ticks", "")])

    def test_what_is_skipped_each_time_is_told_once(self):
        seen = set()
        skip = [("skipped", "Clock.waits", "no clock here")]
        self.assertEqual(suite.of_run(skip, "clock_tests", 1, 2, [], seen), skip)
        self.assertEqual(suite.of_run(skip, "clock_tests", 2, 2, [], seen), [])
        other = [("skipped", "Clock.waits", "another reason")]
        self.assertEqual(suite.of_run(other, "clock_tests", 2, 2, [], seen), other)

    def test_a_load_lasts_as_long_as_its_block(self):
        with self.assertRaises(KeyError), suite.load(2) as busy:
            self.assertEqual([process.poll() for process in busy], [None, None])
            raise KeyError
        self.assertEqual([process.returncode for process in busy], [-9, -9])

    def test_a_load_ends_with_the_process_that_started_it(self):
        script = ("import importlib.machinery as m, importlib.util as u, os\n"
                  f"l = m.SourceFileLoader('suite', {str(TOOLS / 'suite')!r})\n"
                  "s = u.module_from_spec(u.spec_from_loader('suite', l)); l.exec_module(s)\n"
                  "with s.load(1): os._exit(0)")
        # A busy process holds our pipe open: it is at its end once that one has ended too.
        subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=TOOLS,
                       timeout=60, check=True, env=dict(os.environ, PYTHONPATH=str(TOOLS)))


class Labels(unittest.TestCase):
    def names(self, label, exclude_label):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "CTestTestfile.cmake").write_text(
                "".join(f'add_test({name} "true")\nset_tests_properties({name} PROPERTIES LABELS "{labels}")\n'
                        for name, labels in (("a", "unit;fast"), ("b", "units"), ("c", "script"))))
            return [entry.name for entry in suite.read_entries(Path(folder), label, exclude_label)]

    def test_choose_and_leave_out_entries(self):
        self.assertEqual(self.names("", ""), ["a", "b", "c"])
        self.assertEqual(self.names("unit", ""), ["a"])
        self.assertEqual(self.names("", "script"), ["a", "b"])


class Lists(unittest.TestCase):
    def test_reads_suites_and_parameters(self):
        text = "seed: x\nClock.\n  ticks\n  waits/0  # GetParam() = 4\nLoop.\n  runs\n"
        self.assertEqual(suite.parse_list(text), ["Clock.ticks", "Clock.waits/0", "Loop.runs"])

    def test_reads_why_an_entry_failed(self):
        log = ("1/3 Test #1: a_tests ....***Failed    0.20 sec\n"
               "2/3 Test #2: b_tests ....Subprocess aborted***Exception:   0.2 sec\n"
               "3/3 Test #12: c_tests ...***Exception: SegFault  0.01 sec\n"
               "4/4 Test #4: d_tests ....***Timeout   1.00 sec\n")
        self.assertEqual(suite.failure_reasons(log), {
            "a_tests": "Failed", "b_tests": "Subprocess aborted", "c_tests": "SegFault",
            "d_tests": "Timeout"})


class Report(unittest.TestCase):
    def show(self, rows):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "results")
            Path(path).touch()
            for row in rows:
                report.add(path, *row)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = report.show(path)
        return status, output.getvalue().splitlines()

    def test_ends_with_the_sum_and_names_what_did_not_pass(self):
        status, lines = self.show([
            ("passed", "dev", "Clock.ticks"), ("skipped", "dev", "Clock.waits", "no clock"),
            ("failed", "asan", "Clock.stops", "clock_test.cc:9\nit went on")])
        self.assertEqual(status, 1)
        self.assertEqual(lines, [
            "skipped: Clock.waits: no clock", "failed: Clock.stops (asan): clock_test.cc:9",
            "1 passed, 1 failed, 1 skipped"])

    def test_is_good_when_something_ran_and_nothing_failed(self):
        self.assertEqual(self.show([("passed", "dev", "a")]), (0, ["1 passed, 0 failed, 0 skipped"]))

    def test_is_bad_when_nothing_ran(self):
        self.assertEqual(self.show([])[0], 1)
        self.assertEqual(self.show([("skipped", "dev", "a", "why")])[0], 1)


if __name__ == "__main__":
    unittest.main()
