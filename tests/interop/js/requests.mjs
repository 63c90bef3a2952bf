// Counts the requests to Blob storage of calm groups; bench/store_requests runs it.
import { Agent, createServer, request } from "node:http";
import { ContainerClient } from "@azure/storage-blob";
import { Hub } from "../hub.mjs";
import { startAzurite } from "./azurite.mjs";
import { Fleet } from "./fleet.mjs";

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const minutes = Number(option("minutes", 5));
const settleMinutes = Number(option("settle", 15));
const groups = option("groups", "ours,js,python,ours+js,ours+python,ours-fast").split(",");
const partitions = 32;
const instances = 8;

// Each of these is as the SDKs have it when nothing is said.
const defaults = {
  js: { BALANCE_MS: "10000", EXPIRY_MS: "60000", STRATEGY: "balanced" },
  python: { BALANCE_MS: "30000", EXPIRY_MS: "180000", STRATEGY: "greedy" },
};

// What a request is for, by its method and address.
function kindOf(method, url) {
  if (url.includes("comp=list")) return "list";
  const what = /\/(ownership|checkpoint|members|epoch|request|record)(\/|%2F)/i.exec(url)?.[1] ?? "other";
  return `${method === "HEAD" || method === "GET" ? "read" : "write"} ${what}`;
}

// Passes everything on, and counts it.
async function startCounter(target) {
  const counts = new Map();
  const agent = new Agent({ keepAlive: true });
  const server = createServer((incoming, outgoing) => {
    const kind = kindOf(incoming.method, incoming.url);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const passed = request({ agent, host: "127.0.0.1", port: target, method: incoming.method, path: incoming.url,
      headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { counts, port: server.address().port };
}

const hub = new Hub(process.env.EVENKEEL);
const { child: azurite, storage } = await startAzurite();
const fleets = [];
try {
  const names = groups.map((_, i) => `group-${i}`);
  await hub.start(...names.flatMap((name) => ["--hub", `${name}:${partitions}`]));
  const azuritePort = Number(/127\.0\.0\.1:(\d+)/.exec(storage)[1]);
  const container = "checkpoints";
  await new ContainerClient(storage, container).create();
  for (const [i, group] of groups.entries()) {
    const kinds = group.replace("-fast", "").split("+");
    const counters = new Map();
    for (const kind of kinds) counters.set(kind, await startCounter(azuritePort));
    const fleet = new Fleet({ hub, storage, container, eventHub: names[i], partitions,
      environment: defaults[kinds.at(-1)] ?? {}, ours: group.startsWith("ours-fast") ? ["--profile", "fast"] : [],
      storageOf: (kind) => storage.replace(`:${azuritePort}/`, `:${counters.get(kind).port}/`) });
    fleets.push({ group, kinds, counters, fleet });
    for (let number = 0; number < instances; ++number) {
      fleet.add(kinds[number % kinds.length], `ours-${number}`);
      await new Promise((resolve) => setTimeout(resolve, 1000)); // a storm of starts is not what is measured
    }
  }
  const deadline = Date.now() + settleMinutes * 60_000;
  const isCalm = ({ fleet }) => fleet.isBalanced(90_000);
  while (!fleets.every(isCalm) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 1000));
  for (const each of fleets) {
    if (!isCalm(each)) {
      console.log(`${each.group}: not calm after ${settleMinutes} minutes: shares ${each.fleet.counts()}; ` +
        each.fleet.errors.filter((error) => /ended by itself|ours/.test(error)).slice(-5).join(" | "));
    }
    each.movesBefore = each.fleet.moves;
    each.before = new Map([...each.counters].map(([kind, { counts }]) => [kind, new Map(counts)]));
  }
  await new Promise((resolve) => setTimeout(resolve, minutes * 60_000));
  console.log(`requests for each instance and minute, ${instances} instances, ${partitions} partitions, over ${minutes} minutes`);
  for (const { group, kinds, counters, before, fleet, movesBefore } of fleets) {
    for (const kind of kinds) {
      const members = fleet.members.filter((member) => member.kind === kind).length;
      const rates = [...counters.get(kind).counts]
        .map(([what, count]) => [what, (count - (before.get(kind).get(what) ?? 0)) / members / minutes])
        .filter(([, rate]) => rate > 0).sort(([, a], [, b]) => b - a);
      const all = rates.reduce((sum, [, rate]) => sum + rate, 0);
      console.log(`${group.padEnd(12)} ${kind.padEnd(7)} ${all.toFixed(1).padStart(6)}   ` +
        `${rates.map(([what, rate]) => `${what} ${rate.toFixed(1)}`).join(", ")}; ${fleet.moves - movesBefore} moves`);
    }
  }
} finally {
  await Promise.all(fleets.map(({ fleet }) => fleet.end()));
  azurite.kill();
  await hub.remove();
}
process.exit(0);
