// A bare AMQP peer on rhea, with promises: what a client does that is none of the SDKs.
import { createHmac } from "node:crypto";
import { once } from "node:events";
import rhea from "rhea";

export const { message, types } = rhea;
export const batchFormat = 0x80013700;
const keyName = "RootManageSharedAccessKey";

export function sasToken(path, { key = "SAS_KEY_VALUE", seconds = 600 } = {}) {
  const resource = encodeURIComponent(`sb://localhost/${path}`);
  const expiry = Math.floor(Date.now() / 1000) + seconds;
  const signature = createHmac("sha256", key).update(`${resource}\n${expiry}`).digest("base64");
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${keyName}`;
}

// A SASL mechanism whose one message is `response`.
const mechanism = (response) => ({ start: (callback) => callback(undefined, Buffer.from(response)) });
export const sasl = {
  anonymous: { ANONYMOUS: mechanism("anyone") },
  mssbcbs: { MSSBCBS: mechanism("") },
  plain: (key = "SAS_KEY_VALUE") => ({ PLAIN: mechanism(`\0${keyName}\0${key}`) }),
};

const unhandled = (context) => { throw new Error(`unexpected: ${context.error ?? context}`); };

export class Peer {
  // Resolves when the hub has opened the connection, rejects with its error.
  static async connect(hub, mechanisms, options = {}) {
    const peer = new Peer();
    peer.container = rhea.create_container();
    peer.container.on("error", unhandled);
    peer.connection = peer.container.connect({ host: "localhost", port: hub.port, reconnect: false,
      sasl_mechanisms: mechanisms, ...options });
    peer.disconnected = new Promise((resolve) => peer.connection.on("disconnected", resolve));
    await new Promise((resolve, reject) => {
      peer.connection.once("connection_open", resolve);
      peer.connection.once("connection_error", (context) => reject(context.error ?? context.connection.error));
      peer.disconnected.then(() => reject(new Error("the connection was cut")));
    });
    return peer;
  }

  // A connection that may do everything.
  static trusted(hub, options) {
    return Peer.connect(hub, sasl.plain(), options);
  }

  async close() {
    const closed = once(this.connection, "connection_close");
    this.connection.close();
    await closed;
  }

  // A link, attached; rejects with the error of the detach if it is refused: the attach then names
  // no node.
  attach(kind, options, from = this.connection) {
    const link = from[`open_${kind}`](options);
    return new Promise((resolve, reject) => {
      link.once(`${kind}_open`, () => {
        if ((kind === "sender" ? link.target : link.source)?.address !== undefined) resolve(link);
      });
      link.once(`${kind}_error`, () => reject(link.error));
      link.on(`${kind}_close`, () => {});  // the error has been told
    });
  }

  async sender(address, options = {}, from = undefined) {
    const sender = await this.attach("sender", { target: { address }, ...options }, from);
    if (!sender.sendable()) await once(sender, "sendable");
    return sender;
  }

  receiver(partition, { hub = "eh1", group = "$Default", filter, source = {}, from, ...options } = {}) {
    const address = `${hub}/ConsumerGroups/${group}/Partitions/${partition}`;
    return this.attach("receiver", { source: { address, filter, ...source }, credit_window: 0, ...options }, from);
  }

  // A pair of links to a node, and request and reply on it.
  async node(address) {
    const replyTo = `reply-${address}`;
    const receiver = await this.attach("receiver", { source: { address }, target: { address: replyTo } });
    const sender = await this.sender(address);
    return async (request) => {
      const reply = once(receiver, "message");
      sender.send({ reply_to: replyTo, ...request });
      return (await reply)[0].message;
    };
  }

  async putToken(path, token, type = "servicebus.windows.net:sastoken") {
    this.cbs ??= await this.node("$cbs");
    const reply = await this.cbs({ message_id: "1", body: token,
      application_properties: { operation: "put-token", type, name: `sb://localhost/${path}` } });
    return reply.application_properties;
  }
}

// Sends and resolves with how the hub settled it: "accepted", or the error of a rejection.
export function settled(sender, ...what) {
  const delivery = sender.send(...what);
  return new Promise((resolve) => {
    const look = (context) => {
      if (context.delivery !== delivery) return;
      for (const event of ["accepted", "rejected"]) sender.removeListener(event, look);
      resolve(delivery.remote_state.error ?? "accepted");
    };
    for (const event of ["accepted", "rejected"]) sender.on(event, look);
  });
}

// The next `count` messages of a receiver, with as much credit granted.
export function take(receiver, count) {
  const got = [];
  return new Promise((resolve) => {
    const listen = (context) => {
      got.push(context.message);
      if (got.length < count) return;
      receiver.removeListener("message", listen);
      resolve(got);
    };
    receiver.on("message", listen);
    receiver.add_credit(count);
  });
}

// Everything that is there now: credit, then drain, until the hub gives the credit back.
export async function drain(receiver, credit = 1000) {
  const got = [];
  const listen = (context) => got.push(context.message);
  receiver.on("message", listen);
  receiver.add_credit(credit);
  receiver.drain_credit();
  await once(receiver, "receiver_drained");
  receiver.drain = false;
  receiver.removeListener("message", listen);
  return got;
}

export const bodies = (messages) => messages.map((m) => m.body.content?.toString() ?? m.body);
export const event = (body, more = {}) => ({ body: message.data_section(Buffer.from(body)), ...more });
export const batch = (events, more = {}) =>
  message.encode({ ...more, body: message.data_sections(events.map((e) => message.encode(e))) });
