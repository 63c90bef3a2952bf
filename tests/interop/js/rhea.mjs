// rhea, a bare AMQP peer, against our hub: what the SDKs never do, and what they do in the raw.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { Hub } from "../hub.mjs";
import { main, test } from "./harness.mjs";
import { Peer, batch, batchFormat, bodies, drain, event, message, sasToken, sasl, settled, take, types }
  from "./rhea_peer.mjs";

const refusal = (promise) => promise.then(() => assert.fail("it was not refused"), (error) => error);

async function withPeer(connecting, body) {
  const peer = await connecting;
  try {
    return await body(peer);
  } finally {
    await peer.close();
  }
}

const selector = (expression, descriptor = 0x468C00000004) =>
  ({ "apache.org:selector-filter:string": types.wrap_described(expression, descriptor) });

test("every_mechanism_and_none_open_a_connection", async (hub) => {
  for (const mechanisms of [sasl.anonymous, sasl.mssbcbs, sasl.plain(), undefined]) {
    await withPeer(Peer.connect(hub, mechanisms), async (peer) =>
      assert.equal(peer.connection.container_id, "evenkeel"));
  }
});

test("a_wrong_password_is_not_authenticated", async (hub) => {
  const error = await refusal(Peer.connect(hub, sasl.plain("WRONG")));
  assert.equal(error.condition, "amqp:unauthorized-access");
});

test("without_a_token_every_link_to_events_is_refused", (hub) =>
  withPeer(Peer.connect(hub, sasl.anonymous), async (peer) => {
    const send = await refusal(peer.sender("eh1"));
    assert.equal(send.condition, "amqp:unauthorized-access");
    assert.match(send.description, /'Send' claim\(s\) are required/);
    const listen = await refusal(peer.receiver("0"));
    assert.equal(listen.condition, "amqp:unauthorized-access");
    assert.match(listen.description, /'Listen' claim\(s\) are required/);
  }));

test("a_token_opens_what_it_names_and_nothing_else", (hub) =>
  withPeer(Peer.connect(hub, sasl.mssbcbs), async (peer) => {
    assert.equal((await peer.putToken("eh1", sasToken("eh1")))["status-code"], 202);
    assert.equal(await settled(await peer.sender("eh1/Partitions/0"), event("with a token")), "accepted");
    await peer.receiver("0");
    assert.equal((await refusal(peer.sender("eh2"))).condition, "amqp:unauthorized-access");
  }));

test("bad_tokens_are_answered_with_status_and_condition", (hub) =>
  withPeer(Peer.connect(hub, sasl.anonymous), async (peer) => {
    const answer = async (...what) => {
      const reply = await peer.putToken(...what);
      return [reply["status-code"], reply["error-condition"]];
    };
    assert.deepEqual(await answer("eh1", sasToken("eh1", { key: "WRONG" })), [401, "com.microsoft:auth-failed"]);
    assert.deepEqual(await answer("eh1", sasToken("eh1", { seconds: -5 })), [401, "com.microsoft:auth-failed"]);
    assert.deepEqual(await answer("eh1", "no token at all"), [401, "com.microsoft:auth-failed"]);
    assert.deepEqual(await answer("nope", sasToken("nope")), [404, "amqp:not-found"]);
    assert.equal((await answer("eh1", "x", "saml"))[0], 401);
  }));

test("management_answers_with_the_type_of_message_id_it_was_asked_with", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const ask = await peer.node("$management");
    const read = (id, more = {}) => ask({ message_id: id, application_properties: {
      operation: "READ", name: "eh1", type: "com.microsoft:eventhub", security_token: sasToken("eh1"), ...more } });
    const uuid = Buffer.from(randomUUID().replaceAll("-", ""), "hex");
    for (const id of ["text", 7, uuid]) {
      const reply = await read(id);
      assert.deepEqual(reply.correlation_id, id);
      assert.equal(reply.application_properties["status-code"], 200);
      assert.deepEqual(reply.body.partition_ids, ["0", "1", "2", "3"]);
    }
    const partition = (await read("p", { type: "com.microsoft:partition", partition: "3" })).body;
    assert.equal(partition.last_enqueued_sequence_number, -1);
    assert.equal(partition.is_partition_empty, true);
    const failure = async (more) => {
      const { application_properties: got } = await read("f", more);
      return [got["status-code"], got["error-condition"]];
    };
    assert.deepEqual(await failure({ type: "com.microsoft:partition", partition: "44" }),
      [400, "com.microsoft:argument-out-of-range"]);
    assert.deepEqual(await failure({ name: "nope" }), [404, "amqp:not-found"]);
    assert.deepEqual(await failure({ security_token: sasToken("eh1", { key: "WRONG" }) }),
      [401, "com.microsoft:auth-failed"]);
    assert.equal((await failure({ operation: "DELETE" }))[1], "amqp:not-implemented");
  }));

test("single_events_and_batches_arrive_in_order_and_without_their_headers", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const sender = await peer.sender("eh1/Partitions/1");
    const sent = [settled(sender, event("single", { durable: true, ttl: 5000, message_annotations: { mine: 5 } })),
      settled(sender, batch([event("a"), event("b", { application_properties: { n: 1 } }), { body: "c" }],
        { message_annotations: { "x-opt-partition-key": "key" } }), undefined, batchFormat),
      settled(sender, { body: message.sequence_section([1, "two"]) })];
    assert.deepEqual(await Promise.all(sent), ["accepted", "accepted", "accepted"]);

    const got = await take(await peer.receiver("1"), 5);
    assert.deepEqual(bodies(got.slice(0, 4)), ["single", "a", "b", "c"]);
    assert.deepEqual(got[4].body.content, [1, "two"]);
    assert.equal(got[0].durable, undefined);
    assert.equal(got[0].message_annotations.mine, 5);
    assert.deepEqual(got[2].application_properties, { n: 1 });
    assert.deepEqual(got.map((m) => m.message_annotations["x-opt-sequence-number"]), [0, 1, 2, 3, 4]);
    assert.deepEqual(got.map((m) => m.message_annotations["x-opt-partition-key"]),
      [undefined, "key", "key", "key", undefined]);
  }));

test("an_event_that_fills_the_limit_passes_in_small_frames_and_one_byte_more_does_not", (hub) =>
  withPeer(Peer.trusted(hub, { max_frame_size: 1024 }), async (peer) => {
    const sender = await peer.sender("eh1/Partitions/2");
    assert.equal(sender.max_message_size, 1048576);
    const overhead = message.encode(event(Buffer.alloc(1000))).length - 1000;
    const whole = (bytes) => event(Buffer.alloc(bytes - overhead, 7));
    assert.equal(message.encode(whole(1048576)).length, 1048576);
    assert.equal(await settled(sender, whole(1048576)), "accepted");
    const error = await settled(sender, whole(1048577));
    assert.equal(error.condition, "amqp:link:message-size-exceeded");
    assert.match(error.description, /size:1048577 bytes\) exceeds the limit \(1048576 bytes\)/);
    assert.equal(await settled(sender, event("the link still works")), "accepted");

    const receiver = await peer.receiver("2");
    const [large, small] = await take(receiver, 2);
    assert.deepEqual(large.body.content, whole(1048576).body.content);
    assert.deepEqual(bodies([small]), ["the link still works"]);
  }));

test("what_is_no_message_is_rejected_and_the_link_goes_on", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const sender = await peer.sender("eh1/Partitions/3");
    const garbage = Buffer.from([0x00, 0x53, 0x75, 0xb0, 0xff, 0xff, 0xff, 0xff]);
    assert.equal((await settled(sender, garbage, undefined, 0)).condition, "amqp:decode-error");
    assert.equal((await settled(sender, garbage, undefined, batchFormat)).condition, "amqp:decode-error");
    assert.equal(await settled(sender, event("good")), "accepted");
    assert.deepEqual(bodies(await take(await peer.receiver("3"), 1)), ["good"]);
  }));

test("pre_settled_events_arrive_and_nothing_answers_them", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const sender = await peer.sender("eh2/Partitions/0", { snd_settle_mode: 1 });
    for (const event of ["accepted", "rejected", "settled"]) sender.on(event, () => assert.fail(event));
    for (let i = 0; i < 50; i += 1) sender.send(event(`settled ${i}`));
    const got = await take(await peer.receiver("0", { hub: "eh2" }), 50);
    assert.deepEqual(bodies(got), [...Array(50).keys()].map((i) => `settled ${i}`));
  }));

test("a_receiver_gets_what_its_credit_allows_and_drain_gives_the_rest_back", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const receiver = await peer.receiver("0", { hub: "eh2" });
    assert.equal((await take(receiver, 7)).length, 7);
    assert.equal((await take(receiver, 3)).length, 3);
    assert.equal((await drain(receiver, 20)).length, 20);  // all of it could be used
    assert.equal((await drain(receiver)).length, 20);      // no more is there
    assert.equal((await drain(receiver)).length, 0);
    assert.equal(receiver.credit, 0);
    const next = take(receiver, 1);
    await settled(await peer.sender("eh2/Partitions/0"), event("after the drain"));
    assert.deepEqual(bodies(await next), ["after the drain"]);
  }));

test("filters_of_every_spelling_and_descriptor_start_where_they_say", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const sender = await peer.sender("eh2/Partitions/1");
    const numbers = [...Array(10).keys()];
    for (const i of numbers) await settled(sender, event(String(i)));
    const at = async (filter) => {
      const receiver = await peer.receiver("1", { hub: "eh2", filter });
      const got = await drain(receiver);
      receiver.close();
      return got;
    };
    const from = async (expression, descriptor) =>
      Number(bodies(await at(selector(expression, descriptor)))[0] ?? 10);
    const all = await at(undefined);
    assert.deepEqual(bodies(all), numbers.map(String));
    const { "x-opt-offset": offset, "x-opt-enqueued-time": time } = all[6].message_annotations;
    const enqueued = all.map((m) => m.message_annotations["x-opt-enqueued-time"].getTime());
    for (const descriptor of [0x468C00000004, 0x137000000A, "apache.org:selector-filter:string"]) {
      assert.equal(await from("amqp.annotation.x-opt-offset > '-1'", descriptor), 0);
      assert.equal(await from("amqp.annotation.x-opt-sequence-number > '4'", descriptor), 5);
    }
    assert.equal(await from("amqp.annotation.x-opt-offset >= -1"), 0);
    assert.equal(await from("amqp.annotation.x-opt-offset > '@latest'"), 10);
    assert.equal(await from("amqp.annotation.x-opt-offset >'@latest'"), 10);
    assert.equal(await from("amqp.annotation.x-opt-offset > @latest"), 10);
    assert.equal(await from(`amqp.annotation.x-opt-offset > '${offset}'`), 7);
    assert.equal(await from(`amqp.annotation.x-opt-offset >= ${offset}`), 6);
    assert.equal(await from("amqp.annotation.x-opt-sequence-number>=4"), 4);
    assert.equal(await from("  amqp.annotation.x-opt-sequence-number  >=  '9' "), 9);
    assert.equal(await from("amqp.annotation.x-opt-sequence-number > '9'"), 10);
    assert.equal(await from(`amqp.annotation.x-opt-enqueued-time > '${enqueued[0] - 1}'`), 0);
    assert.equal(await from(`amqp.annotation.x-opt-enqueued-time > '${time.getTime()}'`),
      enqueued.filter((t) => t <= time.getTime()).length);
    assert.equal(await from(`amqp.annotation.x-opt-enqueued-time >= ${time.getTime()}`),
      enqueued.filter((t) => t < time.getTime()).length);

    const refused = async (expression) => {
      const error = await refusal(peer.receiver("1", { hub: "eh2", filter: selector(expression) }));
      assert.equal(error.condition, "com.microsoft:argument-error", expression);
      return error.description;
    };
    assert.match(await refused("amqp.annotation.x-opt-sequence-number > '10'"),
      /The supplied sequence number '10' is invalid. The last sequence number in the system is '9'/);
    assert.match(await refused("amqp.annotation.x-opt-offset > '99999999'"), /The supplied offset '99999999' is invalid/);
    assert.match(await refused("amqp.annotation.x-opt-sequence-number < '4'"), /only > and >= are known/);
    assert.match(await refused("amqp.annotation.x-opt-colour > '4'"), /no event has that annotation/);
    assert.match(await refused("amqp.annotation.x-opt-offset > 'here'"), /not a number/);
    assert.match(await refused("nonsense"), /compares no annotation/);
  }));

test("an_equal_or_higher_epoch_steals_and_a_lower_one_is_refused", (hub) =>
  withPeer(Peer.trusted(hub), (one) => withPeer(Peer.trusted(hub), async (two) => {
    const reader = (peer, epoch, name) => peer.receiver("0", { properties: {
      ...(epoch === undefined ? {} : { "com.microsoft:epoch": types.wrap_long(epoch) }),
      "com.microsoft:receiver-name": name } });
    const stolen = (link) => once(link, "receiver_error").then(() => link.error);
    const plain = stolen(await reader(one, undefined, "plain"));
    const first = await reader(one, 0, "first");
    assert.equal((await plain).condition, "amqp:link:stolen");
    const lost = stolen(first);
    const second = await reader(two, 0, "second");  // all processors use epoch 0
    const error = await lost;
    assert.equal(error.condition, "amqp:link:stolen");
    assert.match(error.description, /New receiver 'second' with higher epoch of '0' is created hence current receiver 'first' with epoch '0'/);
    const gone = stolen(second);
    await reader(one, 3, "third");
    assert.equal((await gone).condition, "amqp:link:stolen");
    const lower = await refusal(reader(two, 2, "late"));
    assert.equal(lower.condition, "amqp:link:stolen");
    assert.match(lower.description, /Receiver 'third' with a higher epoch '3' already exists/);
    const none = await refusal(reader(two, undefined, "nobody"));
    assert.equal(none.condition, "amqp:link:stolen");
    assert.match(none.description, /non-epoch receiver is not allowed/);
    assert.equal((await refusal(reader(two, -1, "negative"))).condition, "com.microsoft:argument-out-of-range");
  })));

test("the_sixth_reader_is_refused_and_may_come_when_one_has_left", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const readers = [];
    for (let i = 0; i < 5; i += 1) readers.push(await peer.receiver("1"));
    const error = await refusal(peer.receiver("1"));
    assert.equal(error.condition, "amqp:resource-limit-exceeded");
    assert.match(error.description, /receivers per partition in a consumer group which is 5/);
    const closed = once(readers[2], "receiver_close");
    readers[2].close();
    await closed;
    await peer.receiver("1");
  }));

test("links_to_what_is_not_there_are_refused_with_the_right_condition", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const condition = async (promise) => (await refusal(promise)).condition;
    assert.equal(await condition(peer.sender("nope")), "amqp:not-found");
    assert.equal(await condition(peer.sender("eh1/Partitions/4")), "com.microsoft:argument-out-of-range");
    assert.equal(await condition(peer.sender("eh1/Partitions/x")), "com.microsoft:argument-out-of-range");
    assert.equal(await condition(peer.sender("eh1/ConsumerGroups/$Default/Partitions/0")), "amqp:not-allowed");
    assert.equal(await condition(peer.receiver("0", { hub: "nope" })), "amqp:not-found");
    assert.equal(await condition(peer.receiver("0", { group: "nobody" })), "amqp:not-found");
    assert.equal(await condition(peer.receiver("9")), "com.microsoft:argument-out-of-range");
    assert.equal(await condition(peer.attach("receiver", { source: { address: "eh1" } })), "amqp:not-allowed");
    assert.equal(await condition(peer.attach("receiver", { source: { dynamic: true } })), "amqp:invalid-field");
    assert.equal(await condition(peer.attach("sender", { target: {} })), "amqp:invalid-field");
    // The connection and its other links are none the worse for it.
    assert.equal(await settled(await peer.sender("/eh1/Partitions/0"), event("still here")), "accepted");
    await peer.sender("amqps://other:5671/EH1/partitions/0");
  }));

test("a_client_that_asks_for_signs_of_life_gets_them", async (hub) => {
  const peer = await Peer.connect(hub, sasl.anonymous, { idle_time_out: 500 });
  assert.equal(peer.connection.remote.open.idle_time_out, 120_000);
  let empty = 0;
  const enough = new Promise((resolve) => peer.connection.socket.on("data", (data) => {
    if (data.equals(Buffer.from([0, 0, 0, 8, 2, 0, 0, 0])) && (empty += 1) === 6) resolve();
  }));
  await Promise.race([enough, peer.disconnected.then(() => assert.fail("the connection was cut"))]);
  await peer.close();
});

test("names_handles_and_channels_are_used_again", (hub) =>
  withPeer(Peer.trusted(hub), async (peer) => {
    const name = "the same name";
    for (let i = 0; i < 20; i += 1) {  // one link after the other
      const sender = await peer.sender("eh2/Partitions/0", { name });
      assert.equal(await settled(sender, event(`again ${i}`)), "accepted");
      const closed = once(sender, "sender_close");
      sender.close();
      await closed;
    }
    const sessions = [];
    for (let i = 0; i < 10; i += 1) {  // the same name in each of several sessions
      const session = peer.connection.create_session();
      session.open();
      sessions.push([session, await peer.sender("eh2/Partitions/0", { name }, session)]);
    }
    for (const [, sender] of sessions) assert.equal(await settled(sender, event("side by side")), "accepted");
    for (const [session] of sessions.slice(0, 5)) {
      const closed = once(session, "session_close");
      session.close();
      await closed;
    }
    for (const [, sender] of sessions.slice(5)) assert.equal(await settled(sender, event("the rest")), "accepted");
    const session = peer.connection.create_session();  // on a channel that was used before
    session.open();
    const receiver = await peer.receiver("0", { hub: "eh2", from: session });
    assert.deepEqual(bodies(await drain(receiver)).slice(-15, -5), Array(10).fill("side by side"));
  }));

await main("RheaPeer", {
  before: async () => {
    const hub = new Hub(process.env.EVENKEEL);
    await hub.start();
    return hub;
  },
  after: async (hub) => hub.remove(),
  timeoutSeconds: 20,
});
