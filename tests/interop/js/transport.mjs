// Sends an event and reads it back by TLS or by a WebSocket over TLS, in a process of its own: which
// certificates Node trusts is settled when it starts.
import assert from "node:assert/strict";
import { EventHubConsumerClient, EventHubProducerClient, earliestEventPosition } from "@azure/event-hubs";
import WebSocket from "ws";

const [connectionString, transport, partition] = process.argv.slice(2);
const options = transport === "websocket" ? { webSocketOptions: { webSocket: WebSocket } } : {};
const producer = new EventHubProducerClient(connectionString, "eh1", options);
await producer.sendBatch([{ body: `by ${transport}` }], { partitionId: partition });
const { lastEnqueuedSequenceNumber } = await producer.getPartitionProperties(partition);
await producer.close();

const consumer = new EventHubConsumerClient("$Default", connectionString, "eh1", options);
const body = await new Promise((resolve, reject) => {
  consumer.subscribe(partition, {
    processEvents: async (events) => { if (events.length) resolve(events[0].body); },
    processError: async (error) => reject(error),
  }, { startPosition: { sequenceNumber: lastEnqueuedSequenceNumber, isInclusive: true } });
});
await consumer.close();
assert.equal(body, `by ${transport}`);
