"""One processor instance of the SDK, of its threaded or of its asynchronous kind: tells its parent,
line by line, which partitions it has, what it handled and what it checkpointed."""

import asyncio
import json
import os
import signal
import sys
import threading

LOCK = threading.Lock()
EVENT_HUB = os.environ.get("EVENT_HUB", "eh1")
BALANCING = {"load_balancing_interval": int(os.environ.get("BALANCE_MS", "500")) / 1000,
             "partition_ownership_expiration_interval": int(os.environ.get("EXPIRY_MS", "5000")) / 1000,
             "load_balancing_strategy": os.environ.get("STRATEGY", "greedy")}
RECEIVING = {"starting_position": "-1", "max_batch_size": 20, "max_wait_time": 1}


def tell(**what):
    with LOCK:
        print(json.dumps(what), flush=True)


def without_port(store):
    """The SDK keeps the emulator's port in the namespace; the other SDKs, and Azure, have none there."""
    if os.environ.get("NAMESPACE"):
        name = os.environ["NAMESPACE"]
        for method in ("list_ownership", "list_checkpoints"):
            def listed(_namespace, *rest, real=getattr(store, method), **more):
                return real(name, *rest, **more)
            setattr(store, method, listed)
        real_claim, real_update = store.claim_ownership, store.update_checkpoint
        store.claim_ownership = lambda wanted, **more: real_claim(
            [dict(each, fully_qualified_namespace=name) for each in wanted], **more)
        store.update_checkpoint = lambda checkpoint, **more: real_update(
            dict(checkpoint, fully_qualified_namespace=name), **more)
    return store


def handled(context, batch):
    tell(handled=[[context.partition_id, event.sequence_number, event.body_as_str()] for event in batch])


def checkpointed(context, batch):
    tell(checkpoint=context.partition_id, number=batch[-1].sequence_number)


def run_threads(connection_string, storage, container):
    from azure.eventhub import EventHubConsumerClient
    from azure.eventhub.extensions.checkpointstoreblob import BlobCheckpointStore

    def on_batch(context, batch):
        if batch:
            handled(context, batch)
            context.update_checkpoint(batch[-1])
            checkpointed(context, batch)

    client = EventHubConsumerClient.from_connection_string(
        connection_string, consumer_group="$Default", eventhub_name=EVENT_HUB,
        checkpoint_store=without_port(BlobCheckpointStore.from_connection_string(storage, container)),
        **BALANCING)
    # Closing takes locks that the interrupted thread may hold: another thread does it.
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=client.close).start())
    client.receive_batch(
        on_event_batch=on_batch, **RECEIVING,
        on_partition_initialize=lambda context: tell(gained=context.partition_id),
        on_partition_close=lambda context, reason: tell(lost=context.partition_id),
        on_error=lambda context, error: tell(error=repr(error)))


async def run_tasks(connection_string, storage, container):
    from azure.eventhub.aio import EventHubConsumerClient
    from azure.eventhub.extensions.checkpointstoreblobaio import BlobCheckpointStore

    async def on_batch(context, batch):
        if batch:
            handled(context, batch)
            await context.update_checkpoint(batch[-1])
            checkpointed(context, batch)

    async def on_gain(context):
        tell(gained=context.partition_id)

    async def on_loss(context, reason):
        tell(lost=context.partition_id)

    async def on_error(context, error):
        tell(error=repr(error))

    store = BlobCheckpointStore.from_connection_string(storage, container)
    client = EventHubConsumerClient.from_connection_string(
        connection_string, consumer_group="$Default", eventhub_name=EVENT_HUB, checkpoint_store=without_port(store),
        **BALANCING)
    closing = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, closing.set)
    async with store, client:
        receiving = asyncio.create_task(client.receive_batch(
            on_event_batch=on_batch, **RECEIVING, on_partition_initialize=on_gain,
            on_partition_close=on_loss, on_error=on_error))
        await closing.wait()
        await client.close()
        await receiving


if __name__ == "__main__":
    kind, *where = sys.argv[1:]
    if kind == "threads":
        run_threads(*where)
    else:
        asyncio.run(run_tasks(*where))
