"""The official Python SDK, unmodified, against our hub."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from harness import main, poison, refused, test

SUITE = "PythonSdk"


def producer(hub, name="eh1", string=None, **options):
    from azure.eventhub import EventHubProducerClient
    return EventHubProducerClient.from_connection_string(
        string or hub.connection_string(), eventhub_name=name, retry_backoff_factor=0.1, **options)


def consumer(hub, name="eh1", group="$Default", string=None, **options):
    from azure.eventhub import EventHubConsumerClient
    return EventHubConsumerClient.from_connection_string(
        string or hub.connection_string(), consumer_group=group, eventhub_name=name,
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
        max_batch_size=count, starting_position=options.pop("position", "-1"), **options))
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
    from azure.eventhub.exceptions import EventHubError
    with producer(hub, retry_total=0) as client:
        client.send_batch([EventData(b"x" * 1_000_000)], partition_id="2")
        error = refused(lambda: client.create_batch().add(EventData(b"x" * 1_100_000)))
        assert isinstance(error, ValueError), error
        # The SDK does not measure a single event; the hub does.
        error = refused(lambda: client.send_event(EventData(b"x" * 1_100_000), partition_id="2"))
        assert isinstance(error, EventHubError), repr(error)
        assert "exceeds the limit" in str(error), error
        client.send_event(EventData("the link still works"), partition_id="2")
    events = receive(hub, "2", 2)
    assert len(events[0].body_as_str()) == 1_000_000
    assert events[1].body_as_str() == "the link still works"


@test
def reading_starts_at_every_kind_of_position(hub):
    from azure.eventhub import EventData
    with producer(hub) as client:
        client.send_batch([EventData(str(i)) for i in range(10)], partition_id="3")
    everything = receive(hub, "3", 10)

    def bodies(count, **options):
        return " ".join(e.body_as_str() for e in receive(hub, "3", count, **options))

    with ThreadPoolExecutor(3) as pool:  # a partition has room for five readers
        after_number = pool.submit(bodies, 5, position=4)
        at_number = pool.submit(bodies, 6, position=4, starting_position_inclusive=True)
        after_offset = pool.submit(bodies, 3, position=everything[6].offset)
        at_offset = pool.submit(bodies, 4, position=everything[6].offset, starting_position_inclusive=True)
        after_time = pool.submit(bodies, 10, position=everything[0].enqueued_time.replace(year=2020))
    assert after_number.result() == "5 6 7 8 9"
    assert at_number.result() == "4 5 6 7 8 9"
    assert after_offset.result() == "7 8 9"
    assert at_offset.result() == "6 7 8 9"
    assert after_time.result() == "0 1 2 3 4 5 6 7 8 9"
    latest = []
    reading = threading.Thread(target=lambda: latest.append(bodies(1, position="@latest", prefetch=1)))
    reading.start()
    with producer(hub) as client:
        while reading.is_alive():  # until the reader is there, events pass it by
            client.send_batch([EventData("new")], partition_id="3")
            reading.join(0.02)
    assert latest and latest[0].startswith("new"), latest
    error = refused(lambda: receive(hub, "3", 1, position=1_000_000, client=consumer(hub, retry_total=0)))
    assert "The supplied sequence number '1000000' is invalid" in str(error), repr(error)


@test
def the_last_enqueued_event_is_told_to_those_who_ask(hub):
    seen, told = threading.Event(), []

    def on_event(context, event):
        told.append(context.last_enqueued_event_properties)
        seen.set()

    client = consumer(hub)
    thread = threading.Thread(target=lambda: client.receive(
        on_event=on_event, partition_id="0", starting_position="-1",
        track_last_enqueued_event_properties=True))
    thread.start()
    assert seen.wait(20)
    client.close()
    thread.join()
    assert told[0]["sequence_number"] == 99, told[0]
    assert told[0]["enqueued_time"] and told[0]["retrieval_time"], told[0]


@test
def a_higher_owner_level_takes_the_partition_over_and_a_lower_one_is_refused(hub):
    from azure.eventhub.exceptions import ConnectionLostError
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
    second, there = consumer(hub), threading.Event()
    other = threading.Thread(target=lambda: second.receive(
        on_event=lambda context, event: there.set(), partition_id="0", starting_position="-1",
        owner_level=2))
    other.start()
    assert there.wait(20) and lost.wait(20)
    first.close()
    thread.join()
    assert isinstance(errors[0], ConnectionLostError), repr(errors[0])
    assert "New receiver" in str(errors[0]) and "higher epoch of '2'" in str(errors[0]), errors
    lower = refused(lambda: receive(hub, "0", 1, owner_level=1, client=consumer(hub, retry_total=0)))
    second.close()
    other.join()
    assert isinstance(lower, ConnectionLostError) and "higher epoch '2' already exists" in str(lower), lower


@test
def the_sixth_reader_of_a_partition_is_refused(hub):
    from azure.eventhub.exceptions import ConnectionLostError
    readers = []
    try:
        for _ in range(5):
            seen = threading.Event()
            reader = consumer(hub, retry_total=0)
            thread = threading.Thread(target=reader.receive, kwargs={
                "on_event": lambda context, event, seen=seen: seen.set(), "partition_id": "0",
                "starting_position": "-1"})
            thread.start()
            readers.append((reader, thread, seen))
        for _, _, seen in readers:
            assert seen.wait(20)
        # Told to retry, this SDK asks again each second for ever and says nothing to its user.
        error = refused(lambda: receive(hub, "0", 1, client=consumer(hub, retry_total=0)))
        assert isinstance(error, ConnectionLostError), repr(error)
        assert "amqp:resource-limit-exceeded" in str(error), error
        assert "receivers per partition in a consumer group which is 5" in str(error), error
    finally:
        for reader, _, _ in readers:
            reader.close()
        for _, thread, _ in readers:
            thread.join()


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


def passes(hub, port, transport):
    """Sends an event and reads it back, trusting the hub's own certificate and nothing less."""
    from azure.eventhub import EventData
    options = {"string": hub.connection_string_elsewhere(), "transport_type": transport,
               "custom_endpoint_address": f"sb://localhost:{hub.ports[port]}",
               "connection_verify": hub.certificate, "retry_total": 1}
    with producer(hub, **options) as client:
        client.send_batch([EventData(f"by {port}")], partition_id="1")
        last = client.get_partition_properties("1")["last_enqueued_sequence_number"]
    events = receive(hub, "1", 1, client=consumer(hub, **options), position=last,
                     starting_position_inclusive=True)
    assert [e.body_as_str() for e in events] == [f"by {port}"]


@test
def events_pass_by_tls(hub):
    from azure.eventhub import TransportType
    passes(hub, "amqps_port", TransportType.Amqp)


@test
def events_pass_by_websocket(hub):
    from azure.eventhub import TransportType
    passes(hub, "https_port", TransportType.AmqpOverWebsocket)


@test
def malformed_events_are_refused_and_reading_goes_on(hub):
    from azure.eventhub import EventData
    with producer(hub) as client:
        last = client.get_partition_properties("2")["last_enqueued_sequence_number"]
        poison("malformed", hub.port, "eh1", "2")
        client.send_batch([EventData("after")], partition_id="2")
    events = receive(hub, "2", 2, position=last)
    assert [e.body_as_str() for e in events] == ["behind the malformed", "after"]


@test
def a_damaged_event_is_read_past(hub):
    from azure.eventhub import EventData
    with producer(hub) as client:
        last = client.get_partition_properties("2")["last_enqueued_sequence_number"]
        for body in ("one", "damage", "three"):
            client.send_batch([EventData(body)], partition_id="2")
    hub.stop()
    poison("damage", hub.folder, "damage")
    hub.start()
    for position, inclusive, expected in ((last, False, ["one", "three"]), (last + 1, False, ["three"]),
                                          (last + 2, True, ["three"])):
        events = receive(hub, "2", len(expected), position=position, starting_position_inclusive=inclusive)
        assert [e.body_as_str() for e in events] == expected, position


@test
def after_the_hub_was_killed_clients_reconnect_and_nothing_is_lost(hub):
    from azure.eventhub import EventData
    seen, everything = [], threading.Event()

    def on_event(context, event):
        seen.append((event.sequence_number, event.body_as_str()))
        if len(seen) >= 60:
            everything.set()

    reader = consumer(hub, "eh2")
    reading = threading.Thread(target=lambda: reader.receive(
        on_event=on_event, partition_id="1", starting_position=0))
    reading.start()
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
    # One that was reading all the time missed nothing, and got nothing twice.
    came = everything.wait(30)
    reader.close()
    reading.join()
    assert came and seen == list(zip(range(1, 61), sent)), seen


if __name__ == "__main__":
    sys.exit(main(SUITE, sys.argv[1:]))
