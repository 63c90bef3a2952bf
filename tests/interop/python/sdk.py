"""The official Python SDK, unmodified, against our hub."""

import sys
import threading

from harness import main, refused, test

SUITE = "PythonSdk"


def producer(hub, name="eh1", **options):
    from azure.eventhub import EventHubProducerClient
    return EventHubProducerClient.from_connection_string(
        hub.connection_string(), eventhub_name=name, retry_backoff_factor=0.1, **options)


def consumer(hub, name="eh1", group="$Default", **options):
    from azure.eventhub import EventHubConsumerClient
    return EventHubConsumerClient.from_connection_string(
        hub.connection_string(), consumer_group=group, eventhub_name=name,
        retry_backoff_factor=0.1, **options)


def receive(hub, partition, count, name="eh1", group="$Default", seconds=30, client=None, **options):
    """Reads batches of a partition until `count` events have come; raises what on_error gets."""
    events, errors, enough = [], [], threading.Event()

    def on_batch(context, batch):
        events.extend(batch)
        if len(events) >= count:
            enough.set()

    def on_error(context, error):
        errors.append(error)
        enough.set()

    client = client or consumer(hub, name, group, retry_total=1)
    thread = threading.Thread(target=lambda: client.receive_batch(
        on_event_batch=on_batch, on_error=on_error, partition_id=partition, max_wait_time=1,
        starting_position=options.pop("position", "-1"), **options))
    thread.start()
    came = enough.wait(seconds)
    client.close()
    thread.join()
    if errors:
        raise errors[0]
    assert came, f"{len(events)} of {count} events in {seconds} s"
    return events


@test
def hub_and_partition_properties_are_those_of_the_service(hub):
    with producer(hub) as client:
        properties = client.get_eventhub_properties()
        assert properties["eventhub_name"] == "eh1"
        assert properties["partition_ids"] == ["0", "1", "2", "3"]
        partition = client.get_partition_properties("3")
        assert partition["is_empty"] and partition["last_enqueued_sequence_number"] == -1
        assert partition["last_enqueued_offset"] == "-1"


@test
def a_batch_arrives_whole_in_order_with_its_properties(hub):
    from azure.eventhub import EventData
    with producer(hub) as client:
        batch = client.create_batch(partition_id="0")
        for i in range(100):
            event = EventData(f"event {i}")
            event.properties = {"number": i, "kind": "test"}
            event.message_id = f"m{i}"
            batch.add(event)
        client.send_batch(batch)
    events = receive(hub, "0", 100)
    assert [e.body_as_str() for e in events] == [f"event {i}" for i in range(100)]
    assert [e.sequence_number for e in events] == list(range(100))
    assert events[7].properties == {b"number": 7, b"kind": b"test"}
    assert events[7].message_id == "m7"


@test
def a_single_event_and_events_of_one_key_arrive(hub):
    from azure.eventhub import EventData
    with producer(hub, "eh2") as client:
        client.send_event(EventData("single"), partition_id="1")
        for i in range(3):
            client.send_batch([EventData(f"key {i}")], partition_key="alphabet")
    assert [e.body_as_str() for e in receive(hub, "1", 1, "eh2")] == ["single"]
    events = receive(hub, "0", 3, "eh2")
    assert [e.body_as_str() for e in events] == ["key 0", "key 1", "key 2"]
    assert [e.partition_key for e in events] == [b"alphabet"] * 3


@test
def a_large_event_passes_and_a_larger_one_is_refused(hub):
    from azure.eventhub import EventData
    with producer(hub, retry_total=0) as client:
        client.send_batch([EventData(b"x" * 1_000_000)], partition_id="2")
        error = refused(lambda: client.create_batch().add(EventData(b"x" * 1_100_000)))
        assert isinstance(error, ValueError), error
    assert len(receive(hub, "2", 1)[0].body_as_str()) == 1_000_000


@test
def reading_starts_at_every_kind_of_position(hub):
    from azure.eventhub import EventData
    with producer(hub) as client:
        client.send_batch([EventData(str(i)) for i in range(10)], partition_id="3")
    everything = receive(hub, "3", 10)

    def bodies(count, **options):
        return [e.body_as_str() for e in receive(hub, "3", count, **options)]

    assert bodies(5, position=4) == ["5", "6", "7", "8", "9"]
    assert bodies(6, position=4, starting_position_inclusive=True) == ["4", "5", "6", "7", "8", "9"]
    assert bodies(3, position=everything[6].offset) == ["7", "8", "9"]
    assert bodies(10, position=everything[0].enqueued_time.replace(year=2020)) == [
        str(i) for i in range(10)]


@test
def a_higher_owner_level_takes_the_partition_over(hub):
    lost, seen = threading.Event(), threading.Event()
    errors = []

    def on_error(context, error):
        errors.append(error)
        lost.set()

    first = consumer(hub, retry_total=0)
    thread = threading.Thread(target=lambda: first.receive(
        on_event=lambda context, event: seen.set(), on_error=on_error, partition_id="0",
        starting_position="-1", owner_level=1))
    thread.start()
    assert seen.wait(20)
    assert receive(hub, "0", 1, owner_level=2)
    assert lost.wait(20)
    first.close()
    thread.join()
    assert "New receiver" in str(errors[0]) and "higher epoch of '2'" in str(errors[0]), errors


@test
def unknown_hubs_and_wrong_keys_are_refused(hub):
    from azure.eventhub import EventHubProducerClient
    from azure.eventhub.exceptions import AuthenticationError, ConnectError, EventHubError
    error = refused(lambda: producer(hub, "nope", retry_total=0).get_eventhub_properties())
    assert isinstance(error, EventHubError), error
    wrong = EventHubProducerClient.from_connection_string(
        hub.connection_string("WRONG"), eventhub_name="eh1", retry_total=0)
    error = refused(wrong.get_eventhub_properties)
    assert isinstance(error, (AuthenticationError, ConnectError)), error


@test
def after_the_hub_was_killed_clients_reconnect_and_nothing_is_lost(hub):
    from azure.eventhub import EventData
    with producer(hub, "eh2", retry_total=20, retry_backoff_max=0.5) as client:
        sent = []
        for phase in ("before", "after"):
            for i in range(30):
                client.send_batch([EventData(f"{phase} {i}")], partition_id="1")
                sent.append(f"{phase} {i}")
            if phase == "before":
                hub.kill()
                hub.start()
    events = receive(hub, "1", 60, "eh2", position=0)
    assert [e.body_as_str() for e in events] == sent
    assert [e.sequence_number for e in events] == list(range(1, 61))


if __name__ == "__main__":
    sys.exit(main(SUITE, sys.argv[1:]))
