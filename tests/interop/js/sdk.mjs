// The official JavaScript SDK, unmodified, against our hub.
import assert from "node:assert/strict";
import {
  EventHubBufferedProducerClient, EventHubConsumerClient, EventHubProducerClient,
  earliestEventPosition, latestEventPosition,
} from "@azure/event-hubs";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Hub } from "../hub.mjs";
import { main, test } from "./harness.mjs";

const quick = { retryOptions: { maxRetries: 1, retryDelayInMs: 100, timeoutInMs: 10000 } };
const producer = (hub, name = "eh1", options = quick) =>
  new EventHubProducerClient(hub.connectionString(), name, options);
const consumer = (hub, group = "$Default", name = "eh1") =>
  new EventHubConsumerClient(group, hub.connectionString(), name, quick);

async function withClient(client, body) {
  try {
    return await body(client);
  } finally {
    await client.close();
  }
}

// Reads a partition from a position until `count` events have come.
function receive(client, partition, startPosition, count, options = {}) {
  const events = [];
  return new Promise((resolve, reject) => {
    const subscription = client.subscribe(partition, {
      processEvents: async (batch) => {
        events.push(...batch);
        if (events.length >= count) {
          await subscription.close();
          resolve(events);
        }
      },
      processError: async (error) => {
        await subscription.close();
        reject(error);
      },
    }, { startPosition, maxWaitTimeInSeconds: 1, maxBatchSize: 50, ...options });
  });
}

const rejection = (promise) => promise.then(() => assert.fail("it was not refused"), (error) => error);

test("hub_and_partition_properties_are_those_of_the_service", (hub) =>
  withClient(producer(hub), async (client) => {
    const properties = await client.getEventHubProperties();
    assert.equal(properties.name, "eh1");
    assert.deepEqual(properties.partitionIds, ["0", "1", "2", "3"]);
    assert.ok(Math.abs(Date.now() - properties.createdOn.getTime()) < 600_000);

    const partition = await client.getPartitionProperties("3");
    assert.equal(partition.isEmpty, true);
    assert.equal(partition.lastEnqueuedSequenceNumber, -1);
    assert.equal(partition.lastEnqueuedOffset, "-1");
  }));

test("a_batch_arrives_whole_in_order_with_properties_and_ids", (hub) =>
  withClient(producer(hub), async (client) => {
    const batch = await client.createBatch({ partitionId: "0" });
    for (let i = 0; i < 100; i += 1) {
      assert.ok(batch.tryAdd({ body: { number: i }, properties: { kind: "test", i }, messageId: `m${i}`,
        correlationId: i, contentType: "application/json" }));
    }
    await client.sendBatch(batch);

    const events = await withClient(consumer(hub), (reader) =>
      receive(reader, "0", earliestEventPosition, 100));
    assert.deepEqual(events.map((e) => e.body.number), [...Array(100).keys()]);
    assert.deepEqual(events.map((e) => e.sequenceNumber), [...Array(100).keys()]);
    assert.equal(events[7].messageId, "m7");
    assert.equal(events[7].correlationId, 7);
    assert.equal(events[7].contentType, "application/json");
    assert.deepEqual(events[7].properties, { kind: "test", i: 7 });
  }));

test("events_of_one_key_share_a_partition_and_carry_the_key", (hub) =>
  withClient(producer(hub, "eh2"), async (client) => {
    for (let i = 0; i < 3; i += 1) await client.sendBatch([{ body: i }], { partitionKey: "alphabet" });

    const events = await withClient(consumer(hub, "$Default", "eh2"), (reader) =>
      receive(reader, "0", earliestEventPosition, 3));  // of 2 partitions, 'alphabet' is in 0
    assert.deepEqual(events.map((e) => e.body), [0, 1, 2]);
    assert.deepEqual(events.map((e) => e.partitionKey), ["alphabet", "alphabet", "alphabet"]);
  }));

test("bodies_of_every_kind_come_back_as_they_were_sent", (hub) =>
  withClient(producer(hub), async (client) => {
    const bodies = ["text", 42, true, null, { a: [1, { b: 2 }] }, Buffer.from([0, 1, 255]), "", "日本語"];
    await client.sendBatch(bodies.map((body) => ({ body })), { partitionId: "1" });

    const events = await withClient(consumer(hub), (reader) =>
      receive(reader, "1", earliestEventPosition, bodies.length));
    assert.deepEqual(events.map((e) => e.body), bodies);
  }));

test("an_event_of_nearly_a_mebibyte_passes_and_a_larger_one_is_too_large", (hub) =>
  withClient(producer(hub), async (client) => {
    await client.sendBatch([{ body: Buffer.alloc(1_000_000, 7) }], { partitionId: "2" });
    const [event] = await withClient(consumer(hub), (reader) =>
      receive(reader, "2", earliestEventPosition, 1));
    assert.equal(event.body.length, 1_000_000);

    const error = await rejection(client.sendBatch([{ body: Buffer.alloc(1_100_000) }]));
    assert.equal(error.code, "MessageTooLargeError");
    await client.sendBatch([{ body: "the link still works" }], { partitionId: "2" });
  }));

test("reading_starts_at_every_kind_of_position", (hub) =>
  withClient(producer(hub), (client) => withClient(consumer(hub), async (reader) => {
    await client.sendBatch([...Array(10).keys()].map((i) => ({ body: i })), { partitionId: "3" });
    const all = await receive(reader, "3", earliestEventPosition, 10);
    const bodies = async (position, count) =>
      (await receive(reader, "3", position, count)).slice(0, count).map((e) => e.body);

    assert.deepEqual(await bodies({ sequenceNumber: 4 }, 5), [5, 6, 7, 8, 9]);
    assert.deepEqual(await bodies({ sequenceNumber: 4, isInclusive: true }, 6), [4, 5, 6, 7, 8, 9]);
    assert.deepEqual(await bodies({ offset: all[6].offset }, 3), [7, 8, 9]);
    assert.deepEqual(await bodies({ offset: all[6].offset, isInclusive: true }, 4), [6, 7, 8, 9]);
    assert.deepEqual(await bodies({ enqueuedOn: all[0].enqueuedTimeUtc.getTime() - 1000 }, 10), [...Array(10).keys()]);
    const latest = receive(reader, "3", latestEventPosition, 1);
    const until = Date.now() + 20_000;
    let sent = 0;
    const done = latest.then(() => { sent = -1; });
    while (sent >= 0 && Date.now() < until) {  // until the reader is there, events pass it by
      await client.sendBatch([{ body: `new ${sent += 1}` }], { partitionId: "3" });
      await Promise.race([done, new Promise((resolve) => setImmediate(resolve))]);
      if (sent < 0) break;
    }
    assert.match((await latest)[0].body, /^new/);
    const error = await rejection(receive(reader, "3", { sequenceNumber: 1_000_000 }, 1));
    assert.equal(error.code, "ArgumentError");
    assert.match(error.message, /The supplied sequence number '1000000' is invalid/);
  })));

test("the_last_enqueued_event_is_told_to_those_who_ask", (hub) =>
  withClient(consumer(hub), (reader) => new Promise((resolve, reject) => {
    const subscription = reader.subscribe("0", {
      processEvents: async (events, context) => {
        if (!events.length) return;
        await subscription.close();
        resolve(context.lastEnqueuedEventProperties);
      },
      processError: async (error) => reject(error),
    }, { startPosition: earliestEventPosition, trackLastEnqueuedEventProperties: true });
  })).then((last) => {
    assert.equal(last.sequenceNumber, 99);
    assert.ok(last.enqueuedOn instanceof Date && last.retrievedOn instanceof Date);
  }));

test("a_higher_or_equal_owner_level_takes_the_partition_over", (hub) =>
  withClient(consumer(hub), (first) => withClient(consumer(hub), async (second) => {
    const lost = new Promise((resolve) => {
      first.subscribe("0", {
        processEvents: async () => {},
        processError: async (error) => resolve(error),
      }, { startPosition: earliestEventPosition, ownerLevel: 1, maxWaitTimeInSeconds: 1 });
    });
    await receive(first, "1", earliestEventPosition, 1);  // the connection stands
    const events = await receive(second, "0", earliestEventPosition, 1, { ownerLevel: 2 });
    assert.ok(events.length > 0);
    const error = await lost;
    assert.equal(error.code, "ReceiverDisconnectedError");
    assert.match(error.message, /New receiver .* with higher epoch of '2' is created/);
  })));

test("a_lower_owner_level_is_refused_while_a_higher_one_reads", (hub) =>
  withClient(consumer(hub), (first) => withClient(consumer(hub), async (second) => {
    let subscription;
    await new Promise((resolve, reject) => {
      subscription = first.subscribe("0", {
        processEvents: async () => resolve(), processError: async (error) => reject(error),
      }, { startPosition: earliestEventPosition, ownerLevel: 5, maxWaitTimeInSeconds: 1 });
    });
    const error = await rejection(receive(second, "0", earliestEventPosition, 1, { ownerLevel: 4 }));
    assert.equal(error.code, "ReceiverDisconnectedError");
    await subscription.close();
  })));

test("the_sixth_reader_of_a_partition_is_refused", async (hub) => {
  const readers = [];
  try {
    for (let i = 0; i < 5; i += 1) {
      const reader = consumer(hub);
      readers.push(reader);
      await new Promise((resolve, reject) => reader.subscribe("0", {
        processEvents: async () => resolve(), processError: async (error) => reject(error),
      }, { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 }));
    }
    const sixth = consumer(hub);
    readers.push(sixth);
    const error = await rejection(receive(sixth, "0", earliestEventPosition, 1));
    assert.equal(error.code, "QuotaExceededError");
    assert.match(error.message, /maximum number of allowed receivers per partition.* which is 5/);
  } finally {
    for (const reader of readers) await reader.close();
  }
});

test("unknown_hub_group_and_partition_are_named_in_the_sdks_own_errors", async (hub) => {
  const missing = await rejection(withClient(producer(hub, "nope"), (client) => client.getEventHubProperties()));
  assert.equal(missing.code, "MessagingEntityNotFoundError");
  const group = await rejection(withClient(consumer(hub, "nobody"), (reader) =>
    receive(reader, "0", earliestEventPosition, 1)));
  assert.equal(group.code, "MessagingEntityNotFoundError");
  const partition = await rejection(withClient(producer(hub), (client) =>
    client.sendBatch([{ body: 1 }], { partitionId: "99" })));
  assert.equal(partition.code, "ArgumentOutOfRangeError");
});

test("a_wrong_key_is_unauthorized", async (hub) => {
  const string = hub.connectionString().replace("SAS_KEY_VALUE", "WRONG");
  const client = new EventHubProducerClient(string, "eh1", { retryOptions: { maxRetries: 0 } });
  const error = await rejection(withClient(client, () => client.getEventHubProperties()));
  assert.equal((error.errors?.[0] ?? error).code, "UnauthorizedError");
});

test("a_buffered_producer_delivers_everything_in_order", async (hub) => {
  const failures = [];
  const client = new EventHubBufferedProducerClient(hub.connectionString(), "eh2", {
    onSendEventsErrorHandler: async (context) => { failures.push(context.error); }, ...quick });
  for (let i = 0; i < 500; i += 1) await client.enqueueEvent({ body: i }, { partitionId: "1" });
  await client.close({ flush: true });
  assert.deepEqual(failures, []);

  const events = await withClient(consumer(hub, "$Default", "eh2"), (reader) =>
    receive(reader, "1", earliestEventPosition, 500));
  assert.deepEqual(events.map((e) => e.body), [...Array(500).keys()]);
});

// The hub's certificate is its own; the client trusts it and nothing less.
const elsewhere = (hub, port, transport) => promisify(execFile)(process.execPath,
  [fileURLToPath(new URL("transport.mjs", import.meta.url)),
    hub.connectionString("").replace(`:${hub.port};`, `:${port};`), transport, "1"],
  { env: { ...process.env, NODE_EXTRA_CA_CERTS: hub.certificate } });

test("events_pass_by_tls", (hub) => elsewhere(hub, hub.amqps_port, "tls"));

test("events_pass_by_websocket", (hub) => elsewhere(hub, hub.https_port, "websocket"));

const poison = (...words) => promisify(execFile)(process.env.POISON, words.map(String));

test("malformed_events_are_refused_and_reading_goes_on", (hub) =>
  withClient(producer(hub), (client) => withClient(consumer(hub), async (reader) => {
    const { lastEnqueuedSequenceNumber: last } = await client.getPartitionProperties("2");
    await poison("malformed", hub.port, "eh1", "2");
    await client.sendBatch([{ body: "after" }], { partitionId: "2" });
    const events = await receive(reader, "2", { sequenceNumber: last }, 2);
    assert.deepEqual(events.map((e) => String(e.body)), ["behind the malformed", "after"]);
  })));

test("a_damaged_event_is_read_past", async (hub) => {
  const last = await withClient(producer(hub), async (client) => {
    const properties = await client.getPartitionProperties("2");
    for (const body of ["one", "damage", "three"]) await client.sendBatch([{ body }], { partitionId: "2" });
    return properties.lastEnqueuedSequenceNumber;
  });
  await hub.kill("SIGTERM");
  await poison("damage", hub.data, "damage");
  await hub.start();
  await withClient(consumer(hub), async (reader) => {
    const bodies = async (position, count) => (await receive(reader, "2", position, count)).map((e) => e.body);
    assert.deepEqual(await bodies({ sequenceNumber: last }, 2), ["one", "three"]);
    assert.deepEqual(await bodies({ sequenceNumber: last + 1 }, 1), ["three"]);
    assert.deepEqual(await bodies({ sequenceNumber: last + 2, isInclusive: true }, 1), ["three"]);
  });
});

test("three_idempotent_producers_lose_and_repeat_nothing", async (hub) => {
  const { lastEnqueuedSequenceNumber: last } = await withClient(producer(hub), (client) =>
    client.getPartitionProperties("3"));
  const failures = [];
  const names = ["a", "b", "c"];
  const clients = names.map(() => new EventHubBufferedProducerClient(hub.connectionString(), "eh1", {
    enableIdempotentRetries: true, maxWaitTimeInMs: 20, ...quick,
    onSendEventsErrorHandler: async (context) => { failures.push(context.error); } }));
  for (let i = 0; i < 50; i += 1) {
    for (const [index, client] of clients.entries()) {
      await client.enqueueEvent({ body: `${names[index]} ${i}` }, { partitionId: "3" });
    }
    if (i % 10 === 9) await Promise.all(clients.map((client) => client.flush()));
  }
  // A number in JavaScript holds 53 bits: the hub's ids fit, and each producer has its own.
  const told = await Promise.all(clients.map((client) => client._producer.getPartitionPublishingProperties("3")));
  assert.ok(told.every((properties) => Number.isSafeInteger(properties.producerGroupId)), JSON.stringify(told));
  assert.equal(new Set(told.map((properties) => properties.producerGroupId)).size, 3, JSON.stringify(told));
  for (const client of clients) await client.close({ flush: true });
  assert.deepEqual(failures, []);

  const events = await withClient(consumer(hub), (reader) => receive(reader, "3", { sequenceNumber: last }, 150));
  for (const name of names) {
    assert.deepEqual(events.map((e) => e.body).filter((body) => body.startsWith(name)),
      [...Array(50).keys()].map((i) => `${name} ${i}`));
  }
  assert.equal(events.length, 150);
});

test("after_the_hub_was_killed_clients_reconnect_and_nothing_is_lost", async (hub) => {
  const options = { retryOptions: { maxRetries: 20, retryDelayInMs: 200, maxRetryDelayInMs: 500 } };
  const reader = new EventHubConsumerClient("$Default", hub.connectionString(), "eh2", options);
  const seen = [];
  const everything = new Promise((resolve, reject) => {
    reader.subscribe("0", {
      processEvents: async (events) => {
        seen.push(...events.map((e) => e.body));
        if (seen.length >= 100) resolve();
      },
      processError: async (error) => reject(error),
    }, { startPosition: { sequenceNumber: 2 }, maxWaitTimeInSeconds: 1 });
  });
  everything.catch(() => {});
  await withClient(producer(hub, "eh2", options), async (client) => {
    const sent = [];
    for (let i = 0; i < 50; i += 1) {
      await client.sendBatch([{ body: `before ${i}` }], { partitionId: "0" });
      sent.push(`before ${i}`);
    }
    await hub.kill();
    await hub.start();
    for (let i = 0; i < 50; i += 1) {
      await client.sendBatch([{ body: `after ${i}` }], { partitionId: "0" });
      sent.push(`after ${i}`);
    }
    const events = await withClient(consumer(hub, "$Default", "eh2"), (late) =>
      receive(late, "0", { sequenceNumber: 2 }, 100));
    assert.deepEqual(events.map((e) => e.body), sent);
    assert.deepEqual(events.map((e) => e.sequenceNumber), [...Array(100).keys()].map((i) => i + 3));
    // One that was reading all the time missed nothing, and got nothing twice.
    await withClient(reader, () => everything);
    assert.deepEqual(seen, sent);
  });
});

await main("JavaScriptSdk", {
  before: async () => {
    const hub = new Hub(process.env.EVENKEEL);
    await hub.start();
    return hub;
  },
  after: async (hub) => hub.remove(),
});
