// One consumer group on one Blob container: processors of ours, of the JavaScript SDK and of the Python
// SDK share the partitions of our hub.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { EventHubProducerClient } from "@azure/event-hubs";
import { BlobCheckpointStore } from "@azure/eventhubs-checkpointstore-blob";
import { ContainerClient } from "@azure/storage-blob";
import { Hub } from "../hub.mjs";
import { startAzurite } from "./azurite.mjs";
import { Fleet } from "./fleet.mjs";
import { main, test } from "./harness.mjs";

const run = promisify(execFile);
const python = (script) => join(process.env.PYTHON_SUITE, script);
const isLong = Boolean(process.env.EVENKEEL_LONG);
const partitions = 16;
const shortMs = 120_000; // so long it runs at least
const longMs = 600_000; // and with EVENKEEL_LONG
const calmMs = 7_000; // so long nothing moves in a group that is balanced
// How the SDKs are set up: they look every two seconds, and give the dead 25.
const pace = { BALANCE_MS: "2000", EXPIRY_MS: "25000" };
// Go takes part where it could be built. Java's processor (5.21.3) writes checkpoints without an offset, at
// which Python's fails: those two cannot share a group, with or without us.
const others = [process.env.GO_WORKER && "go"].filter(Boolean);

test("positions_of_each_store_are_read_by_the_others", async ({ storage, container, store }) => {
  const where = { fullyQualifiedNamespace: "localhost", eventHubName: "eh1", consumerGroup: "$Default" };
  const js = new BlobCheckpointStore(new ContainerClient(storage, container));
  const py = (what, ...rest) => run(process.env.PYTHON, [python("positions.py"), what, storage, container,
    "localhost", "eh1", "$Default", ...rest]).then(({ stdout }) => stdout);
  const ours = async (...args) => (await run(process.env.EVENKEEL, ["checkpoint", ...args, "--store", store,
    "--namespace", "localhost"])).stdout;
  const listed = async () => JSON.parse(await ours("ls", "eh1", "-o", "json")).map((each) =>
    [String(each.partition), each.offset, each.sequence]);

  await js.updateCheckpoint({ ...where, partitionId: "0", offset: "4294967296", sequenceNumber: 42 });
  await py("set", "1", "8589934592", "43");
  assert.deepEqual(await listed(), [["0", "4294967296", 42], ["1", "8589934592", 43]]);

  const lines = [[0, "100", 50], [2, "200", 51]].map(([partition, offset, sequence]) =>
    JSON.stringify({ partition, offset, sequence })).join("\n");
  const file = join(process.env.TMPDIR ?? "/tmp", `evenkeel-positions-${process.pid}.ndjson`);
  const { writeFileSync, rmSync } = await import("node:fs");
  writeFileSync(file, `${lines}\n`);
  try {
    await ours("import", "eh1", "--file", file);
  } finally {
    rmSync(file);
  }
  const expected = [["0", "100", 50], ["1", "8589934592", 43], ["2", "200", 51]];
  assert.deepEqual(await listed(), expected);
  const seen = await js.listCheckpoints("localhost", "eh1", "$Default");
  assert.deepEqual(seen.map((each) => [each.partitionId, String(each.offset), each.sequenceNumber]).sort(), expected);
  assert.deepEqual(JSON.parse(await py("list")).map(([p, o, s]) => [p, String(o), s]).sort(), expected);
});

// Sends until it is told to stop; `sent` counts.
class Sender {
  constructor(hub) {
    this.sent = 0;
    this.producer = new EventHubProducerClient(hub.connectionString(), "mix");
    this.sending = this.run();
  }

  async run() {
    while (!this.stopped) {
      await this.producer.sendBatch([{ body: String(this.sent) }], { partitionId: String(this.sent % partitions) });
      this.sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  }

  async stop() {
    this.stopped = true;
    await this.sending;
    await this.producer.close();
  }
}

test("two_of_each_kind_share_sixteen_partitions_and_lose_nothing_when_one_of_each_dies", async (context) => {
  const fleet = new Fleet({ ...context, eventHub: "mix", partitions, environment: pace,
    ours: ["--profile", isLong ? "standard" : "fast", "--checkpoint-every", "20", "--checkpoint-interval", "1s"] });
  const sender = new Sender(context.hub);
  const begun = Date.now();
  // One step: what happens, and in how many moves it is balanced again.
  const step = async (what, movesMax) => {
    const [before, at] = [fleet.moves, Date.now()];
    await fleet.until(`balance after ${what}`, () => fleet.isBalanced(calmMs), isLong ? 300 : 150);
    const moves = fleet.moves - before;
    console.log(`${what}: ${moves} moves, calm after ${Math.round((fleet.changed - at) / 1000)} s`);
    assert.ok(moves <= movesMax, `${moves} moves after ${what}`);
  };
  try {
    const kinds = ["js", "python", "ours", ...(isLong ? others : [])];
    for (const kind of ["ours", "js", "python"]) for (const number of [1, 2]) fleet.add(kind, `${kind}-${number}`);
    for (const kind of kinds.slice(3)) fleet.add(kind, kind);
    await step("the start", 3 * partitions);
    for (let round = 1; round === 1 || (isLong && Date.now() - begun < longMs); ++round) {
      for (const kind of kinds) {
        await fleet.kill(kind);
        await step(`the death of a ${kind}`, partitions);
        if (!isLong) continue;
        fleet.add(kind, `${kind}-again-${round}`);
        await step(`the coming of a ${kind}`, partitions);
      }
    }
    const before = fleet.moves;
    // The rest of the two minutes nothing happens, and nothing moves.
    const restMs = Math.max(10_000, shortMs - (Date.now() - begun));
    await new Promise((resolve) => setTimeout(resolve, restMs));
    assert.equal(fleet.moves, before, "nobody takes from anybody while nothing happens");
    await sender.stop();
    await fleet.until(`all ${sender.sent} are handled`, () => fleet.handled.size >= sender.sent, 60);
    const repeated = [...fleet.handled.values()].reduce((sum, times) => sum + times - 1, 0);
    console.log(`${sender.sent} events, ${repeated} handled again, ${fleet.moves} moves, ` +
      `${Math.round((Date.now() - begun) / 1000)} s`);
  } finally {
    await fleet.end();
    await sender.stop();
  }
});

await main("MixedFleet", {
  before: async () => {
    const hub = new Hub(process.env.EVENKEEL);
    await hub.start("--hub", `mix:${partitions}`);
    const { child, storage } = await startAzurite();
    const container = "checkpoints";
    await new ContainerClient(storage, container).create();
    return { hub, azurite: child, storage, container, store: `azblob:${storage}Container=${container}` };
  },
  after: async ({ hub, azurite }) => {
    azurite.kill();
    await hub.remove();
  },
  timeoutSeconds: isLong ? 1500 : 600,
});
