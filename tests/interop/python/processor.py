"""The SDK's own processors, with a Blob checkpoint store, share and take over our hub's partitions."""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

from harness import main, test

SUITE = "PythonProcessor"
ACCOUNT = "devstoreaccount1"
# Azurite's published development key.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


class Azurite:
    """The blob emulator on a free port; $AZURITE is its script."""

    def __enter__(self):
        self.process = subprocess.Popen(
            ["node", os.environ["AZURITE"], "--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence",
             "--disableTelemetry", "--skipApiVersionCheck", "--silent"], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            found = re.search(r"listen\w* (?:at|on) https?://[^:]+:(\d+)", line)
            if found:
                return (f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};"
                        f"BlobEndpoint=http://127.0.0.1:{found[1]}/{ACCOUNT};")
        raise RuntimeError(f"azurite ended with {self.process.wait()}")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class World:
    """What all workers have told so far."""

    def __init__(self, hub, storage, container):
        self.where = [hub.connection_string(), storage, container]
        self.told = threading.Condition()
        self.handled = []  # (worker, partition, number, body)
        self.errors = []
        self.workers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for worker in self.workers:
            worker.end("kill")

    def until(self, what, condition, seconds=30):
        deadline = time.monotonic() + seconds
        with self.told:
            while not condition():
                left = deadline - time.monotonic()
                assert left > 0, f"not within {seconds} s: {what}; errors: {self.errors[-3:]}"
                self.told.wait(left)

    def bodies(self):
        return {body for _, _, _, body in self.handled}


class Worker:
    def __init__(self, world, kind):
        self.partitions, self.checkpoints = set(), {}
        self.process = subprocess.Popen(
            [sys.executable, pathlib.Path(__file__).with_name("worker.py"), kind, *world.where],
            stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.listen, args=[world])
        self.reader.start()
        world.workers.append(self)

    def listen(self, world):
        for line in self.process.stdout:
            said = json.loads(line)
            with world.told:
                world.handled += [(self, *event) for event in said.get("handled", [])]
                if "gained" in said:
                    self.partitions.add(said["gained"])
                if "lost" in said:
                    self.partitions.discard(said["lost"])
                if "checkpoint" in said:
                    self.checkpoints[said["checkpoint"]] = said["number"]
                if "error" in said:
                    world.errors.append(said["error"])
                world.told.notify_all()

    def end(self, how):
        """Ends the process by "kill" or "terminate", and takes in what it still said."""
        getattr(self.process, how)()
        self.reader.join()
        return self.process.wait()

    def numbers(self, world, partition):
        return [number for worker, of, number, _ in world.handled if worker is self and of == partition]


class Sender:
    """Numbers as events, each to the partition of its rest by four; its links stay open, because the
    SDK takes half a second for each."""

    def __init__(self, hub):
        from azure.eventhub import EventHubProducerClient
        self.client = EventHubProducerClient.from_connection_string(
            hub.connection_string(), eventhub_name="eh1")

    def send(self, numbers):
        from azure.eventhub import EventData
        for partition in range(4):
            self.client.send_batch([EventData(str(n)) for n in numbers if n % 4 == partition],
                                   partition_id=str(partition))


@test
def two_instances_share_four_partitions_and_the_survivor_resumes_at_the_checkpoints(hub):
    from azure.storage.blob import ContainerClient
    with Azurite() as storage, World(hub, storage, "checkpoints") as world:
        ContainerClient.from_connection_string(storage, "checkpoints").create_container()
        sender = Sender(hub)
        sender.send(range(40))
        a, b = Worker(world, "threads"), Worker(world, "tasks")
        world.until("each has two partitions", lambda: len(a.partitions) == len(b.partitions) == 2
                    and len(a.partitions | b.partitions) == 4)
        sender.send(range(40, 80))
        world.until("all 80 are handled and checkpointed", lambda: len(world.bodies()) == 80
                    and all(b.checkpoints.get(p) == 19 for p in b.partitions))

        sender.send(range(80, 120))
        b.end("kill")
        of_b = sorted(b.partitions)
        sender.send(range(120, 160))
        world.until("the survivor has all partitions", lambda: len(a.partitions) == 4)
        world.until("all 160 are handled", lambda: len(world.bodies()) == 160)
        assert sorted(a.partitions) == ["0", "1", "2", "3"]
        for partition in of_b:
            resumed = [n for n in a.numbers(world, partition) if n > b.checkpoints[partition]]
            last = max(b.numbers(world, partition))
            assert resumed[0] <= last + 1, f"partition {partition}: {resumed[0]} follows {last}"
            assert resumed == list(range(resumed[0], 40)), f"partition {partition}: {resumed}"

        world.until("all is checkpointed", lambda: a.checkpoints == {p: 39 for p in "0123"})
        assert a.end("terminate") == 0
        sender.send(range(160, 168))
        c = Worker(world, "tasks")
        world.until("all 168 are handled", lambda: len(world.bodies()) == 168)
        assert {p: c.numbers(world, p) for p in "0123"} == {p: [40, 41] for p in "0123"}
        assert c.end("terminate") == 0
        sender.client.close()


if __name__ == "__main__":
    sys.exit(main(SUITE, sys.argv[1:]))
