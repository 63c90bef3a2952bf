"""A test program in Python that ./test counts like the others: it lists its tests with
--gtest_list_tests and writes the report that --gtest_output=xml:FILE names."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import traceback
import xml.sax.saxutils

TESTS = []


def test(body):
    TESTS.append(body)
    return body


class Hub:
    """`evenkeel dev` as a process of our own."""

    def __init__(self, binary):
        self.binary = binary
        self.folder = tempfile.mkdtemp(prefix="evenkeel-interop-")
        self.certificate = f"{self.folder}/certificate.pem"
        self.port = 0

    def start(self):
        ready = pathlib.Path(self.folder, "ready.json")
        ready.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [self.binary, "dev", "--data", f"{self.folder}/data", "--port", str(self.port), "--http-port", "0",
             "--tls-port", "0", "--https-port", "0", "--certificate-file", self.certificate,
             "--ready-file", str(ready), "--hub", "eh1:4", "--hub", "eh2:2"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = []
        for line in self.process.stdout:  # its last line comes just before the ready file
            lines.append(line)
            if line.startswith("Ctrl-C"):
                break
        deadline = time.monotonic() + 20
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the hub did not start: " + "".join(lines))
            os.sched_yield()
        self.ports = json.loads(ready.read_text())
        self.port = self.ports["amqp_port"]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connection_string(self, key="SAS_KEY_VALUE"):
        return (f"Endpoint=sb://localhost:{self.port};SharedAccessKeyName=RootManageSharedAccessKey;"
                f"SharedAccessKey={key};UseDevelopmentEmulator=true;")

    def connection_string_elsewhere(self):
        """Of a service whose address is told apart."""
        return ("Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;"
                "SharedAccessKey=SAS_KEY_VALUE")


def poison(*words):
    """Malformed events and damaged records; see tests/interop/poison."""
    done = subprocess.run([os.environ["POISON"], *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def refused(call):
    """What a call that must fail raises; which error it is, is what the test looks at."""
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("it was not refused")


def main(suite, arguments):
    if "--gtest_list_tests" in arguments:
        print(f"{suite}.")
        for body in TESTS:
            print(f"  {body.__name__}")
        return 0
    hub = Hub(os.environ["EVENKEEL"])
    hub.start()
    cases, failures = [], 0
    for body in TESTS:
        started, why = time.monotonic(), ""
        try:
            body(hub)
        except BaseException:  # a test may fail in any way; the others go on
            why = traceback.format_exc()
            failures += 1
        seconds = time.monotonic() - started
        print(f"[ {'FAILED' if why else '    OK'} ] {suite}.{body.__name__} ({seconds:.2f} s)", flush=True)
        print(why, end="")
        failure = f"<failure message={xml.sax.saxutils.quoteattr(why)}/>" if why else ""
        cases.append(f'<testcase classname="{suite}" name="{body.__name__}" status="run" '
                     f'time="{seconds:.3f}">{failure}</testcase>')
    hub.remove()
    for argument in arguments:
        if argument.startswith("--gtest_output=xml:"):
            path = pathlib.Path(argument.removeprefix("--gtest_output=xml:"))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f'<testsuites><testsuite name="{suite}">{"".join(cases)}</testsuite></testsuites>\n')
    return 1 if failures else 0
