"""Qpid Proton, a bare AMQP peer, against our hub: an engine and types that no SDK uses."""

import base64
import contextlib
import hashlib
import hmac
import sys
import time
import urllib.parse
import uuid

from harness import main, refused, test

SUITE = "ProtonPeer"
KEY_NAME = "RootManageSharedAccessKey"


def sas_token(path, key="SAS_KEY_VALUE", seconds=600):
    resource = urllib.parse.quote_plus(f"sb://localhost/{path}")
    expiry = int(time.time()) + seconds
    digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(digest))
    return f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn={KEY_NAME}"


@contextlib.contextmanager
def connected(hub, key="SAS_KEY_VALUE", **options):
    """A connection that may do everything; without a key, one that nobody knows."""
    from proton.utils import BlockingConnection
    if key:
        options = {"user": KEY_NAME, "password": key, "allowed_mechs": "PLAIN", "allow_insecure_mechs": True,
                   **options}
    else:
        options = {"allowed_mechs": "ANONYMOUS", **options}
    url = options.pop("url", f"amqp://localhost:{hub.port}")
    connection = BlockingConnection(url, timeout=15, **options)
    try:
        yield connection
    finally:
        connection.close()


def link_properties(**values):
    """Properties of an attach: epoch=1 is com.microsoft:epoch, of type long."""
    from proton import symbol
    from proton.reactor import LinkOption

    class Properties(LinkOption):
        def apply(self, link):
            link.properties = {symbol("com.microsoft:" + name.replace("_", "-")): value
                               for name, value in values.items()}

    return Properties()


def selector(expression, descriptor="apache.org:selector-filter:string"):
    from proton import Described, symbol, ulong
    from proton.reactor import Filter
    kind = symbol(descriptor) if isinstance(descriptor, str) else ulong(descriptor)
    return Filter({symbol("apache.org:selector-filter:string"): Described(kind, expression)})


def receiver(connection, partition, *options, hub="eh1", group="$Default"):
    return connection.create_receiver(f"{hub}/ConsumerGroups/{group}/Partitions/{partition}", credit=0,
                                      name=str(uuid.uuid4()), options=list(options))


def event(body, **more):
    from proton import Message
    return Message(body=body.encode() if isinstance(body, str) else body, inferred=True, **more)


def take(link, count):
    link.flow(count)
    return [link.receive() for _ in range(count)]


def drain(connection, link, credit=1000):
    """All that is there now, until the hub gives the credit back."""
    link.drain(credit)
    connection.wait(lambda: link.credit == 0)
    got = []
    while link.fetcher.has_message:
        got.append(link.fetcher.pop())
    return got


def bodies(messages):
    return [bytes(m.body).decode() for m in messages]


def numbers(messages):
    return [m.annotations["x-opt-sequence-number"] for m in messages]


def detached(call):
    """The condition and text with which the hub refuses or ends a link."""
    from proton.utils import LinkDetached
    error = refused(call)
    assert isinstance(error, LinkDetached), repr(error)
    return error.condition, str(error)


@test
def anonymous_plain_and_tls_open_a_connection_and_a_wrong_password_does_not(hub):
    from proton import ConnectionException, SSLDomain
    for key in ("SAS_KEY_VALUE", None):
        with connected(hub, key) as connection:
            assert connection.conn.remote_container == "evenkeel"
    trust = SSLDomain(SSLDomain.MODE_CLIENT)
    trust.set_trusted_ca_db(hub.certificate)
    trust.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME, hub.certificate)
    tls = f"amqps://localhost:{hub.ports['amqps_port']}"
    with connected(hub, url=tls, ssl_domain=trust) as connection:
        connection.create_sender("eh1/Partitions/0").send(event("by TLS"))

    def wrong():
        with connected(hub, "WRONG"):
            pass
    error = refused(wrong)
    assert isinstance(error, ConnectionException) and "unauthorized-access" in str(error), repr(error)


@test
def a_token_opens_what_it_names_and_bad_ones_are_answered(hub):
    from proton import Message
    with connected(hub, None) as connection:
        assert detached(lambda: connection.create_sender("eh1"))[0] == "amqp:unauthorized-access"
        cbs = connection.create_sender("$cbs")
        replies = connection.create_receiver("$cbs", credit=10)

        def put(path, token):
            cbs.send(Message(id=7, body=token, properties={
                "operation": "put-token", "type": "servicebus.windows.net:sastoken",
                "name": f"sb://localhost/{path}"}))
            reply = replies.receive()
            replies.accept()
            assert reply.correlation_id == 7
            return reply.properties["status-code"], reply.properties.get("error-condition")

        assert put("eh1", sas_token("eh1", "WRONG")) == (401, "com.microsoft:auth-failed")
        assert put("eh1", sas_token("eh1", seconds=-5)) == (401, "com.microsoft:auth-failed")
        assert put("nope", sas_token("nope")) == (404, "amqp:not-found")
        assert put("eh1", sas_token("eh1")) == (202, None)
        connection.create_sender("eh1/Partitions/0").send(event("with a token"))
        assert detached(lambda: connection.create_sender("eh2"))[0] == "amqp:unauthorized-access"


@test
def management_answers_requests_of_every_type_of_id(hub):
    from proton import Message, ulong
    with connected(hub) as connection:
        sender = connection.create_sender("$management")
        replies = connection.create_receiver("$management", credit=10)

        def read(identity, **more):
            properties = {"operation": "READ", "name": "eh1", "type": "com.microsoft:eventhub",
                          "security_token": sas_token("eh1"), **more}
            sender.send(Message(id=identity, properties=properties))
            reply = replies.receive()
            replies.accept()
            assert reply.correlation_id == identity, reply
            return reply

        for identity in ("text", ulong(7), uuid.uuid4()):
            reply = read(identity)
            assert reply.properties["status-code"] == 200
            assert list(reply.body["partition_ids"].elements) == ["0", "1", "2", "3"], reply.body
        partition = read("p", type="com.microsoft:partition", partition="3").body
        assert partition["last_enqueued_sequence_number"] == -1 and partition["is_partition_empty"] is True
        assert read("w", security_token=sas_token("eh1", "WRONG")).properties["status-code"] == 401


@test
def events_of_every_body_arrive_and_many_may_be_under_way(hub):
    from proton import Message, symbol
    with connected(hub) as connection:
        sender = connection.create_sender("eh1/Partitions/1")
        sent = [sender.link.send(event(f"event {i}", properties={"n": i}, annotations={symbol("mine"): i}))
                for i in range(200)]
        connection.wait(lambda: all(delivery.settled for delivery in sent))
        assert all(delivery.remote_state == delivery.ACCEPTED for delivery in sent)
        for body in ({"a": [1, True, None]}, ["x", 2.5], "text", 42):
            sender.send(Message(body=body))
        got = take(receiver(connection, "1"), 204)
    assert bodies(got[:200]) == [f"event {i}" for i in range(200)]
    assert numbers(got) == list(range(204))
    assert got[7].properties == {"n": 7} and got[7].annotations["mine"] == 7
    assert [m.body for m in got[200:]] == [{"a": [1, True, None]}, ["x", 2.5], "text", 42]


@test
def a_large_event_passes_in_small_frames_and_a_larger_one_is_rejected(hub):
    from proton import Delivery
    from proton.utils import SendException
    with connected(hub, max_frame_size=2048) as connection:
        sender = connection.create_sender("eh1/Partitions/2")
        assert sender.link.remote_max_message_size == 1048576
        large = bytes(range(256)) * 4095  # 1,048,320 bytes
        sender.send(event(large))
        error = refused(lambda: sender.send(event(large + bytes(512))))
        assert isinstance(error, SendException) and error.state == Delivery.REJECTED, repr(error)
        sender.send(event("the link still works"))
        got = take(receiver(connection, "2"), 2)
    assert bytes(got[0].body) == large
    assert bodies(got[1:]) == ["the link still works"]


@test
def pre_settled_events_arrive(hub):
    from proton.reactor import AtMostOnce
    with connected(hub) as connection:
        sender = connection.create_sender("eh2/Partitions/0", options=[AtMostOnce()])
        for i in range(50):
            sender.send(event(f"settled {i}"))
        got = take(receiver(connection, "0", hub="eh2"), 50)
    assert bodies(got) == [f"settled {i}" for i in range(50)]


@test
def a_receiver_gets_what_its_credit_allows_and_drain_gives_the_rest_back(hub):
    with connected(hub) as connection:
        link = receiver(connection, "0", hub="eh2")
        assert numbers(take(link, 7)) == list(range(7))
        assert numbers(drain(connection, link, 3)) == [7, 8, 9]
        assert numbers(drain(connection, link)) == list(range(10, 50))
        assert drain(connection, link) == []
        connection.create_sender("eh2/Partitions/0").send(event("after the drain"))
        assert bodies(take(link, 1)) == ["after the drain"]


@test
def filters_start_where_they_say(hub):
    with connected(hub) as connection:
        sender = connection.create_sender("eh2/Partitions/1")
        for i in range(10):
            sender.send(event(str(i)))

        def start(expression, *descriptor):
            link = receiver(connection, "1", selector(expression, *descriptor), hub="eh2")
            got = numbers(drain(connection, link))
            link.close()
            assert got == list(range(10 - len(got), 10)), got
            return 10 - len(got)

        link = receiver(connection, "1", hub="eh2")
        offset = take(link, 7)[6].annotations["x-opt-offset"]
        for descriptor in ("apache.org:selector-filter:string", 0x468C00000004, 0x137000000A):
            assert start("amqp.annotation.x-opt-sequence-number >= '4'", descriptor) == 4
        assert start("amqp.annotation.x-opt-offset > '-1'") == 0
        assert start("amqp.annotation.x-opt-offset > '@latest'") == 10
        assert start(f"amqp.annotation.x-opt-offset > '{offset}'") == 7
        assert start("amqp.annotation.x-opt-enqueued-time > '0'") == 0
        condition, text = detached(lambda: receiver(
            connection, "1", selector("amqp.annotation.x-opt-sequence-number > '77'"), hub="eh2"))
        assert condition == "com.microsoft:argument-error", text
        assert "The last sequence number in the system is '9'" in text


@test
def a_higher_epoch_steals_and_a_lower_one_is_refused(hub):
    with connected(hub) as first, connected(hub) as second:
        loser = receiver(first, "0", link_properties(epoch=1, receiver_name="loser"))
        winner = receiver(second, "0", link_properties(epoch=2, receiver_name="winner"))
        condition, text = detached(lambda: take(loser, 1000))
        assert condition == "amqp:link:stolen"
        assert "New receiver 'winner' with higher epoch of '2'" in text
        condition, text = detached(lambda: receiver(first, "0", link_properties(epoch=1)))
        assert condition == "amqp:link:stolen" and "higher epoch '2' already exists" in text
        winner.close()
        receiver(first, "0", link_properties(epoch=0))


@test
def links_to_what_is_not_there_are_refused_with_the_right_condition(hub):
    with connected(hub) as connection:
        assert detached(lambda: connection.create_sender("nope"))[0] == "amqp:not-found"
        assert detached(lambda: receiver(connection, "0", group="nobody"))[0] == "amqp:not-found"
        out_of_range = "com.microsoft:argument-out-of-range"
        assert detached(lambda: connection.create_sender("eh1/Partitions/9"))[0] == out_of_range
        assert detached(lambda: receiver(connection, "9"))[0] == out_of_range
        assert detached(lambda: connection.create_receiver("eh1"))[0] == "amqp:not-allowed"
        connection.create_sender("eh1/Partitions/3").send(event("still here"))


@test
def a_client_with_a_heartbeat_stays_connected(hub):
    from proton import Timeout
    with connected(hub, heartbeat=0.5) as connection:
        link = receiver(connection, "3")
        got = take(link, 1)
        # Nothing comes for several heartbeats; Proton would cut the connection of a silent hub.
        error = refused(lambda: link.receive(timeout=2.5))
        assert isinstance(error, Timeout), repr(error)
        connection.create_sender("eh1/Partitions/3").send(event("alive"))
        assert bodies(got + [link.receive()]) == ["still here", "alive"]


@test
def names_and_handles_are_used_again(hub):
    with connected(hub) as connection:
        for i in range(20):
            sender = connection.create_sender("eh2/Partitions/0", name="the same name")
            sender.send(event(f"again {i}"))
            sender.close()
        got = drain(connection, receiver(connection, "0", hub="eh2"))
    assert bodies(got[-20:]) == [f"again {i}" for i in range(20)]


if __name__ == "__main__":
    sys.exit(main(SUITE, sys.argv[1:]))
