#!/usr/bin/env python3
"""Shows what tools/packages installs, with dpkg-query, apt-get and sudo that only pretend."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

PACKAGES = Path(__file__).resolve().parent / "packages"
NEEDED = ["bash", "dirname", "env", "cat", "mktemp", "rm", "tee", "tail", "sed", "tput"]


class Packages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        self.calls = self.path / "calls"
        for name in NEEDED:
            for folder in ("/bin", "/usr/bin"):
                if os.path.exists(f"{folder}/{name}") and not (self.path / name).exists():
                    (self.path / name).symlink_to(f"{folder}/{name}")

    def program(self, name, text):
        file = self.path / name
        file.write_text("#!/bin/bash\n" + text)
        file.chmod(0o755)

    def dpkg(self, *installed):
        cases = "".join(f"{package}) echo {package} installed ;;\n" for package in installed)
        self.program("dpkg-query", f'for p in "$@"; do case $p in {cases} gone) echo gone config-files ;;'
                                   " *) status=1 ;; esac; done; exit ${status:-0}\n")

    def apt(self, status=0):
        self.program("apt-get", f'echo "$DEBIAN_FRONTEND apt-get $*" >>{self.calls}; exit {status}\n')

    def run_packages(self, *groups, user=0):
        self.program("id", f"echo {user}\n")
        done = subprocess.run([str(PACKAGES), *groups], env={"PATH": str(self.path)}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        called = self.calls.read_text().splitlines() if self.calls.exists() else []
        return done.returncode, done.stdout, called

    def test_says_and_does_nothing_when_all_is_there(self):
        self.dpkg("libgtest-dev", "python3", "curl", "sqlite3")
        self.apt()

        self.assertEqual(self.run_packages("test"), (0, "", []))

    def test_installs_only_what_is_missing(self):
        self.dpkg("python3", "curl", "sqlite3")
        self.apt()

        status, output, called = self.run_packages("test")

        self.assertEqual(status, 0, output)
        self.assertIn("installing 1 Debian packages: libgtest-dev", output)
        self.assertEqual(len(called), 2)
        self.assertRegex(called[0], r"^noninteractive apt-get .* update$")
        self.assertRegex(called[1], r"^noninteractive apt-get .* install --no-install-recommends libgtest-dev$")

    def test_fails_when_the_installation_fails(self):
        self.dpkg()
        self.apt(status=100)

        self.assertEqual(self.run_packages("test")[0], 100)

    def test_uses_sudo_when_not_root(self):
        self.dpkg("python3")
        self.apt()
        self.program("sudo", f'echo "sudo $1" >>{self.calls}; [[ $1 == -v ]] || exec "$@"\n')

        status, output, called = self.run_packages("test", user=1000)

        self.assertEqual(status, 0, output)
        self.assertEqual([call for call in called if call.startswith("sudo")],
                         ["sudo -v", "sudo env", "sudo env"])

    def test_names_the_packages_when_it_may_not_install_them(self):
        self.dpkg("python3")
        self.apt()

        status, output, called = self.run_packages("test", user=1000)

        self.assertEqual((status, called), (1, []))
        self.assertIn("neither root nor sudo", output)
        self.assertIn("libgtest-dev", output)

    def test_names_the_packages_where_it_is_not_debian(self):
        status, output, _ = self.run_packages("build")

        self.assertEqual(status, 1)
        self.assertIn("not Debian", output)
        self.assertIn("libboost1.81-dev", output)

    def test_never_takes_the_older_boost(self):
        self.assertNotRegex(PACKAGES.read_text(), r"libboost-(\w+-)?dev")

    def test_refuses_an_unknown_group(self):
        self.assertEqual(self.run_packages("everything")[0], 1)
        self.assertEqual(self.run_packages()[0], 1)


if __name__ == "__main__":
    unittest.main()
