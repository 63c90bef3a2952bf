// One consumer group on one Blob container: processors of ours, of the JavaScript SDK and of the Python
// SDK share the partitions of our hub.
import assert from "node:assert/strict";
import { execFile, fork, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { promisify } from "node:util";
import { EventHubProducerClient } from "@azure/event-hubs";
import { BlobCheckpointStore } from "@azure/eventhubs-checkpointstore-blob";
import { ContainerClient } from "@azure/storage-blob";
import { Hub } from "../hub.mjs";
import { startAzurite } from "./azurite.mjs";
import { main, test } from "./harness.mjs";

const run = promisify(execFile);
const python = (script) => join(process.env.PYTHON_SUITE, script);
const isLong = Boolean(process.env.EVENKEEL_LONG);
const partitions = 16;
const calmMs = 10_000; // so long nothing moves in a group that is balanced
// How the SDKs are set up: they look every two seconds, and give the dead 25.
const pace = { EVENT_HUB: "mix", BALANCE_MS: "2000", EXPIRY_MS: "25000", NAMESPACE: "localhost" };

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

class Fleet {
  constructor({ hub, storage, container, store }) {
    this.where = [hub.connectionString(), storage, container];
    this.store = store;
    this.client = new ContainerClient(storage, container);
    this.handled = new Map(); // body -> how often
    this.errors = [];
    this.members = [];
    this.owners = new Map();
    this.moves = 0;
    this.watching = this.watch();
  }

  add(kind, number) {
    const environment = { ...process.env, ...pace };
    let child;
    if (kind === "js") {
      child = fork(new URL("worker.mjs", import.meta.url), this.where, { env: environment });
      child.on("message", (message) => this.told(message));
    } else {
      const [program, args] = kind === "python"
        ? [process.env.PYTHON, [python("worker.py"), number % 2 ? "threads" : "tasks", ...this.where]]
        : [process.env.EVENKEEL, ["process", "mix", "--connection", this.where[0], "--id", `ours-${number}`, "-o", "json", "--profile", "fast",
          "--checkpoint-every", "20", "--checkpoint-interval", "1s"]];
      child = spawn(program, args, { env: { ...environment, EVENKEEL_STORE: this.store }, stdio: ["ignore", "pipe", "pipe"] });
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = JSON.parse(line);
        this.told(said.body === undefined ? said : { handled: [[said.partition, said.sequence_number, said.body]] });
      });
      createInterface({ input: child.stderr }).on("line", (line) => this.errors.push(line));
    }
    const member = { kind, child, ended: new Promise((resolve) => child.once("exit", resolve)) };
    this.members.push(member);
    return member;
  }

  told({ handled = [], error }) {
    for (const [, , body] of handled) {
      const number = String(body).replaceAll('"', ""); // the JavaScript SDK sends texts as JSON, and decodes them
      this.handled.set(number, (this.handled.get(number) ?? 0) + 1);
    }
    if (error) this.errors.push(error);
  }

  // Looks at the owners twice a second, and counts how often one follows another.
  async watch() {
    while (!this.stopped) {
      for await (const blob of this.client.listBlobsFlat({ prefix: "localhost/mix/$default/ownership/", includeMetadata: true })) {
        const owner = blob.metadata?.ownerid ?? "";
        const before = this.owners.get(blob.name) ?? "";
        if (owner !== before) this.changed = Date.now();
        if (owner && before && owner !== before) this.moves += 1;
        if (owner) this.owners.set(blob.name, owner);
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  counts() {
    const counts = new Map();
    for (const owner of this.owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return [...counts.values()].sort();
  }

  async until(what, condition, seconds) {
    const deadline = Date.now() + seconds * 1000;
    while (!condition()) {
      assert.ok(Date.now() < deadline, `not within ${seconds} s: ${what}; owners: ${JSON.stringify([...this.owners.values()])}; ` +
        `errors: ${this.errors.slice(-5).join(" | ")}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  balanced(members) {
    const counts = this.counts();
    return this.owners.size === partitions && counts.length === members && counts.at(-1) - counts[0] <= 1 &&
      Date.now() - this.changed > calmMs;
  }

  async end() {
    this.stopped = true;
    for (const { child } of this.members) child.kill("SIGKILL");
    await Promise.all([this.watching, ...this.members.map((member) => member.ended)]);
  }
}

test("two_of_each_kind_share_sixteen_partitions_and_lose_nothing_when_one_of_each_dies", async (context) => {
  const fleet = new Fleet(context);
  const producer = new EventHubProducerClient(context.hub.connectionString(), "mix");
  let sent = 0;
  let sending = true;
  const send = (async () => {
    while (sending) {
      await producer.sendBatch([{ body: String(sent) }], { partitionId: String(sent % partitions) });
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  })();
  try {
    for (const kind of ["ours", "js", "python"]) for (const number of [1, 2]) fleet.add(kind, number);
    await fleet.until("six share sixteen partitions", () => fleet.balanced(6), 90);
    const movesToBalance = fleet.moves;
    if (isLong) await new Promise((resolve) => setTimeout(resolve, 300_000));
    assert.ok(fleet.moves - movesToBalance <= 2, "nobody takes from anybody while nothing happens");
    // We give a foreign owner 75 s before we take it for dead; so that is not waited for each time.
    for (const [i, kind] of ["js", "python", "ours"].entries()) {
      fleet.members.find((member) => member.kind === kind).child.kill("SIGKILL");
      const isLast = kind === "ours";
      if (isLong || isLast) {
        await fleet.until(`${5 - i} share sixteen partitions without a ${kind}`, () => fleet.balanced(5 - i), 150);
      } else {
        await new Promise((resolve) => setTimeout(resolve, 5000));
      }
    }
    sending = false;
    await send;
    await fleet.until(`all ${sent} are handled`, () => fleet.handled.size >= sent, 60);
    const repeated = [...fleet.handled.values()].reduce((sum, times) => sum + times - 1, 0);
    console.log(`${sent} events, ${repeated} handled again, ${movesToBalance} moves to balance, ${fleet.moves} in all`);
    assert.ok(fleet.moves <= 60, `${fleet.moves} moves`);
  } finally {
    sending = false;
    await fleet.end();
    await producer.close();
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
  timeoutSeconds: isLong ? 1200 : 420,
});
