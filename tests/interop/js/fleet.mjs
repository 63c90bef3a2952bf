// Processors of several kinds as processes that share one consumer group in one Blob container, and
// what can be seen of them from outside.
import assert from "node:assert/strict";
import { fork, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { ContainerClient } from "@azure/storage-blob";
import { endWithUs } from "../hub.mjs";

const python = (script) => join(process.env.PYTHON_SUITE, script);
const looksMs = 500;

export class Fleet {
  // `storageOf(kind)`: the connection string that processors of a kind are given.
  constructor({ hub, storage, container, eventHub, partitions, environment = {}, ours = [], storageOf = () => storage }) {
    Object.assign(this, { eventHub, partitions, environment, ours, storageOf, container });
    this.connection = hub.connectionString();
    this.client = new ContainerClient(storage, container);
    this.handled = new Map(); // body -> how often
    this.errors = [];
    this.members = [];
    this.owners = new Map(); // the last owner that each partition had
    this.released = new Set(); // those that nobody has now
    this.moves = 0;
    this.changed = Date.now();
    this.watching = this.watch();
  }

  add(kind, name) {
    const environment = { ...process.env, EVENT_HUB: this.eventHub, NAMESPACE: "localhost", ...this.environment };
    const storage = this.storageOf(kind);
    const where = [this.connection, storage, this.container];
    let child;
    if (kind === "js") {
      child = fork(new URL("worker.mjs", import.meta.url), where, { env: environment });
      child.on("message", (message) => this.told(message));
    } else {
      const [program, args] = {
        python: [process.env.PYTHON, [python("worker.py"), this.members.length % 2 ? "threads" : "tasks", ...where]],
        go: [process.env.GO_WORKER, where],
        ours: [process.env.EVENKEEL, ["process", this.eventHub, "--connection", this.connection, "--id", name,
          "-o", "json", ...this.ours]],
      }[kind];
      const store = `azblob:${storage}Container=${this.container}`;
      child = spawn(program, args, { env: { ...environment, EVENKEEL_STORE: store }, stdio: ["ignore", "pipe", "pipe"] });
      createInterface({ input: child.stdout }).on("line", (line) => {
        const said = JSON.parse(line);
        this.told(said.body === undefined ? said : { handled: [[said.partition, said.sequence_number, said.body]] });
      });
      createInterface({ input: child.stderr }).on("line", (line) => this.note(`${kind}: ${line}`));
    }
    endWithUs(child);
    const member = { kind, name, child };
    member.ended = new Promise((resolve) => child.once("exit", (code) => {
      if (!this.stopped && this.members.includes(member)) this.note(`${kind} '${name}' ended by itself, with ${code}`);
      resolve();
    }));
    this.members.push(member);
    return member;
  }

  // Kills the first one of that kind.
  async kill(kind) {
    const member = this.members.find((each) => each.kind === kind);
    this.members = this.members.filter((each) => each !== member);
    member.child.kill("SIGKILL");
    await member.ended;
  }

  told({ handled = [], error }) {
    for (const [, , body] of handled) {
      const number = String(body).replaceAll('"', ""); // the JavaScript SDK sends texts as JSON, and decodes them
      this.handled.set(number, (this.handled.get(number) ?? 0) + 1);
    }
    if (error) this.note(error);
  }

  note(error) {
    this.errors.push(`${new Date().toISOString().slice(11, 23)} ${error}`);
    if (process.env.FLEET_VERBOSE) console.error(this.errors.at(-1));
  }

  // Looks at the owners again and again, and counts how often one follows another.
  async watch() {
    while (!this.stopped) {
      try {
        const prefix = `localhost/${this.eventHub}/$default/ownership/`;
        for await (const blob of this.client.listBlobsFlat({ prefix, includeMetadata: true })) {
          this.saw(blob.name.slice(prefix.length), blob.metadata?.ownerid ?? "");
        }
      } catch (error) {
        this.note(`look at the owners: ${error.message}`);
      }
      await new Promise((resolve) => setTimeout(resolve, looksMs));
    }
  }

  saw(partition, owner) {
    const before = this.owners.get(partition) ?? "";
    if (!owner) return void this.released.add(partition);
    const wasReleased = this.released.delete(partition);
    if (owner === before && !wasReleased) return;
    this.changed = Date.now();
    this.owners.set(partition, owner);
    if (owner === before || !before) return;
    this.moves += 1;
    if (process.env.FLEET_VERBOSE) this.note(`partition ${partition}: ${before} -> ${owner}`);
  }

  counts() {
    const counts = new Map();
    for (const owner of this.owners.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return [...counts.values()].sort((a, b) => a - b);
  }

  // All that live have their share, and nothing has moved for so long.
  isBalanced(calmMs) {
    const counts = this.counts();
    return this.owners.size === this.partitions && this.released.size === 0 && counts.length === this.members.length &&
      counts.at(-1) - counts[0] <= 1 && Date.now() - this.changed > calmMs;
  }

  async until(what, condition, seconds) {
    const deadline = Date.now() + seconds * 1000;
    while (!condition()) {
      assert.ok(Date.now() < deadline, `not within ${seconds} s: ${what}; owners: ${JSON.stringify([...this.owners])}; ` +
        `released: ${[...this.released]}; ${this.moves} moves; errors: ${this.errors.slice(-8).join(" | ")}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async end() {
    this.stopped = true;
    for (const { child } of this.members) child.kill("SIGKILL");
    await Promise.all([this.watching, ...this.members.map((member) => member.ended)]);
  }
}
