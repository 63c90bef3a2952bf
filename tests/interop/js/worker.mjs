// One processor instance of the SDK: tells its parent which partitions it has and what it handled.
import { EventHubConsumerClient, earliestEventPosition } from "@azure/event-hubs";
import { BlobCheckpointStore } from "@azure/eventhubs-checkpointstore-blob";
import { ContainerClient } from "@azure/storage-blob";

const [connectionString, storage, container] = process.argv.slice(2);
const store = new BlobCheckpointStore(new ContainerClient(storage, container));
const { EVENT_HUB = "eh1", BALANCE_MS = "500", EXPIRY_MS = "5000", STRATEGY = "greedy" } = process.env;
const client = new EventHubConsumerClient("$Default", connectionString, EVENT_HUB, store, {
  loadBalancingOptions: {
    strategy: STRATEGY, updateIntervalInMs: Number(BALANCE_MS), partitionOwnershipExpirationIntervalInMs: Number(EXPIRY_MS),
  },
});
client.subscribe({
  processInitialize: async (context) => process.send({ gained: context.partitionId }),
  processClose: async (reason, context) => process.send({ lost: context.partitionId, reason }),
  processEvents: async (events, context) => {
    if (!events.length) return;
    process.send({ handled: events.map((e) => [context.partitionId, e.sequenceNumber, e.body]) });
    await context.updateCheckpoint(events.at(-1));
  },
  processError: async (error) => process.send({ error: `${error.code ?? error.name}: ${error.message}` }),
}, { startPosition: earliestEventPosition, maxBatchSize: 20, maxWaitTimeInSeconds: 1 });
