// The SDK's own processors, with a Blob checkpoint store, share and take over our hub's partitions.
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { EventHubProducerClient } from "@azure/event-hubs";
import { ContainerClient } from "@azure/storage-blob";
import { endWithUs, Hub } from "../hub.mjs";
import { startAzurite } from "./azurite.mjs";
import { main, test } from "./harness.mjs";

class Worker {
  constructor({ hub, storage, container }, world) {
    this.partitions = new Set();
    this.process = endWithUs(fork(new URL("worker.mjs", import.meta.url), [hub.connectionString(), storage, container]));
    this.process.on("message", (message) => {
      if (message.gained) this.partitions.add(message.gained);
      if (message.lost) this.partitions.delete(message.lost);
      for (const [partition, number, body] of message.handled ?? []) {
        world.handled.push({ worker: this, partition, number, body });
      }
      if (message.error) world.errors.push(message.error);
      world.changed();
    });
  }
  kill(signal) {
    this.process.kill(signal);
    this.partitions.clear();
    return new Promise((resolve) => this.process.once("exit", resolve));
  }
}

// Waits until the condition holds; it is looked at whenever a worker says something.
function makeWorld() {
  const waiters = [];
  const world = { handled: [], errors: [],
    changed() { for (const waiter of [...waiters]) waiter(); },
    until(what, condition, seconds = 40) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(
          `not within ${seconds} s: ${what}; errors: ${world.errors.slice(-3)}`)), seconds * 1000);
        const look = () => {
          if (!condition()) return;
          clearTimeout(timer);
          waiters.splice(waiters.indexOf(look), 1);
          resolve();
        };
        waiters.push(look);
        look();
      });
    } };
  return world;
}

test("two_instances_share_four_partitions_and_the_survivor_resumes_at_the_checkpoints", async (context) => {
  const world = makeWorld();
  const producer = new EventHubProducerClient(context.hub.connectionString(), "eh1");
  let sent = 0;
  const send = async (count) => {
    for (let i = 0; i < count; i += 1) {
      await producer.sendBatch([{ body: sent }], { partitionId: String(sent % 4) });
      sent += 1;
    }
  };
  const distinct = () => new Set(world.handled.map((event) => event.body)).size;

  await send(40);
  const a = new Worker(context, world);
  const b = new Worker(context, world);
  await world.until("each has two partitions", () => a.partitions.size === 2 && b.partitions.size === 2);
  await send(40);
  await world.until("all 80 are handled", () => distinct() === 80);

  await b.kill("SIGKILL");
  await send(40);
  await world.until("the survivor has all partitions", () => a.partitions.size === 4);
  await world.until("all 120 are handled", () => distinct() === 120);
  const resumed = world.handled.filter((event) => event.worker === a && event.body < 40);
  const repeated = world.handled.length - distinct();
  assert.ok(repeated <= 80, `${repeated} were repeated`);
  assert.ok(resumed.length <= 40, "the survivor did not begin from the start");
  for (const partition of ["0", "1", "2", "3"]) {
    const numbers = world.handled.filter((e) => e.partition === partition && e.worker === a).map((e) => e.number);
    const rising = numbers.every((number, i) => i === 0 || number > numbers[i - 1]);
    assert.ok(rising, `partition ${partition} in order: ${numbers}`);
  }
  await a.kill("SIGTERM");
  await producer.close();
});

await main("JavaScriptProcessor", {
  before: async () => {
    const hub = new Hub(process.env.EVENKEEL);
    await hub.start();
    const { child, storage } = await startAzurite();
    const container = "checkpoints";
    await new ContainerClient(storage, container).create();
    return { hub, azurite: child, storage, container };
  },
  after: async ({ hub, azurite }) => {
    azurite.kill();
    await hub.remove();
  },
  timeoutSeconds: 120,
});
