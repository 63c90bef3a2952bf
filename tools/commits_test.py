#!/usr/bin/env python3
"""Shows which messages tools/commits accepts, and that it passes where there is nothing to compare with."""

import contextlib
import importlib.machinery
import importlib.util
import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

GOOD = "hub: keeps its promises\n\nIt did not when the disk was full."


def load(name):
    path = Path(__file__).resolve().parent / name
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


commits = load("commits")


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=A Test", "-c", "user.email=test@example.com",
                    "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false", *arguments],
                   check=True, capture_output=True)


@contextlib.contextmanager
def a_repository(*messages, tag_after=None):
    """A clone with one empty commit for each message; the tag `v1` is on the one of that number."""
    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init")
        for number, message in enumerate(messages, 1):
            git(folder, "commit", "--allow-empty", "-m", message)
            if number == tag_after:
                git(folder, "tag", "v1")
        yield folder


def checked(folder, base=None):
    """(exit code, what was printed)."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = commits.check(folder, base)
    return code, output.getvalue()


class Commits(unittest.TestCase):
    def test_a_subject_of_72_characters_and_a_body_pass(self):
        self.assertEqual(list(commits.problems("x" * 72 + "\n\nWhy.")), [])

    def test_each_bad_message_is_found(self):
        for message, problem in [("x" * 73 + "\n\nWhy.", "73 characters"),
                                 ("hub: works\nand more\n", "second line"),
                                 ("hub: works", "no body"),
                                 ("hub: works\n\nSigned-off-by: A Test <test@example.com>", "no body")]:
            with self.subTest(message=message):
                self.assertIn(problem, "; ".join(commits.problems(message)))

    def test_only_commits_after_the_last_tag_are_checked(self):
        with a_repository("old, without a body", GOOD, tag_after=1) as folder:
            self.assertEqual(checked(folder), (0, "1 commits after v1, 0 problems\n"))

    def test_a_bad_commit_after_the_tag_fails_and_is_named(self):
        with a_repository(GOOD, "hub: works", tag_after=1) as folder:
            code, text = checked(folder)
            self.assertEqual(code, 1)
            self.assertIn("hub: works\n    there is no body", text)

    def test_a_base_may_be_given(self):
        with a_repository("old", GOOD) as folder:
            self.assertEqual(checked(folder, "HEAD~1"), (0, "1 commits after HEAD~1, 0 problems\n"))
            self.assertEqual(checked(folder, "HEAD"), (0, "0 commits after HEAD, 0 problems\n"))

    def test_without_a_tag_the_newest_release_of_the_changelog_is_the_base(self):
        with a_repository("old, without a body", GOOD) as folder:
            changelog = Path(folder) / "CHANGELOG.md"
            for text, message in [("## 0.1.0 - 2026-01-01\n", "older, without a body"),
                                  ("## 0.2.0 - 2026-02-01\n\n## 0.1.0 - 2026-01-01\n", "the release"),
                                  ("## Unreleased\n\n## 0.2.0 - 2026-02-01\n\n## 0.1.0\n", GOOD)]:
                changelog.write_text(text)
                git(folder, "add", "CHANGELOG.md")
                git(folder, "commit", "-m", message)
            code, text = checked(folder)
            self.assertEqual(code, 0)
            self.assertRegex(text, r"^1 commits after [0-9a-f]+, 0 problems\n$")

            git(folder, "commit", "--allow-empty", "-m", "hub: works")
            self.assertEqual(checked(folder)[0], 1)

            with tempfile.TemporaryDirectory() as clone:
                git(folder, "clone", "--depth", "2", "file://" + folder, clone)
                code, text = checked(clone)
                self.assertEqual(code, 0, "a shallow clone cannot know who wrote the version")
                self.assertIn("(a shallow clone)", text)

    def test_without_a_tag_and_a_release_it_fails(self):
        with a_repository("old") as folder:
            self.assertEqual(checked(folder), (1, "no commits are checked: there is neither a tag nor a release in "
                                                  "CHANGELOG.md before HEAD\n"))

    def test_a_shallow_clone_says_so_and_passes(self):
        with a_repository("old", "older", "new", tag_after=1) as folder, tempfile.TemporaryDirectory() as clone:
            git(folder, "clone", "--depth", "1", "--no-tags", "file://" + folder, clone)
            for base in (None, "v1"):
                code, text = checked(clone, base)
                self.assertEqual(code, 0)
                self.assertIn("(a shallow clone)", text)

    def test_a_folder_without_git_says_so_and_passes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(checked(folder),
                             (0, "no commits are checked: this is no git repository with commits\n"))


if __name__ == "__main__":
    unittest.main()
