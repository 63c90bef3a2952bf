// The dashboard that the program itself serves, with a real hub and real processors: who owns what, an owner that is
// killed, a member that joins, events that are sent and read. Policy violations and script errors fail every test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { main, test } from "../interop/js/harness.mjs";
import { endWithUs, Hub } from "../interop/hub.mjs";
import { browser, open } from "./support/browser.mjs";
import { answer_problems, name_of, operations, request_problems } from "./support/contract.mjs";

const group = "/ui/hubs/homes/groups/aggregator";
const head = (page, words, timeout = 15000) => page.getByRole("heading", { level: 1, name: words }).waitFor({ timeout });

// An instance of `evenkeel process`, named so that the page can be asked for it.
function processor(hub, id) {
  const child = endWithUs(spawn(process.env.EVENKEEL, ["process", "homes", "--group", "aggregator", "--create-group", "--store", hub.store, "--id", id, "--quiet",
    "--profile", "fast", "--checkpoint-interval", "200ms"], { env: { ...process.env, EVENKEEL_HUB: hub.connectionString() }, stdio: ["ignore", "ignore", "inherit"] }));
  hub.processors.set(id, child);
  return child;
}

async function api(hub, path, body) {
  const answer = await fetch(`http://localhost:${hub.http_port}/api/v1${path}`, body ? { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {});
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.clone().text()}`);
  return answer.json();
}

async function visit(context, path, body) {
  const { page, problems } = await open(context.browser.context, `http://localhost:${context.hub.http_port}${path}`);
  try {
    await body(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
}

test("the_policy_is_the_strict_one", async ({ hub }) => {
  const answer = await fetch(`http://localhost:${hub.http_port}/ui/hubs`), policy = answer.headers.get("content-security-policy");
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), policy);
  assert.ok(!policy.includes("unsafe"));
});

test("a_first_start_says_what_to_do", (context) => visit(context, "/ui/", async (page) => {
  await head(page, "Ready. No events yet.");
  await page.getByText("evenkeel send").waitFor();
}));

test("two_processors_share_on_an_even_keel", async (context) => {
  processor(context.hub, "agg-one");
  processor(context.hub, "agg-two");
  await visit(context, `${group}/processors`, async (page) => {
    await head(page, "On an even keel.", 90000);
    await page.locator(".block", { hasText: "agg-one" }).getByText("4 partitions").waitFor();
    await page.locator(".block", { hasText: "agg-two" }).getByText("4 partitions").waitFor();
    const owners = await page.locator("tr[data-partition] .ownercell").allTextContents();
    assert.equal(owners.filter((text) => text.includes("agg-one")).length, 4);
    const { partitions } = await api(context.hub, "/hubs/homes/groups/aggregator/processors");
    for (const one of partitions) assert.ok(owners[one.p].includes(one.owner), `${one.p}: ${owners[one.p]}`);
  });
});

test("a_member_that_joins_gets_its_share", (context) => visit(context, `${group}/processors`, async (page) => {
  await head(page, /even keel|joined|on their way/);
  processor(context.hub, "agg-three");
  await page.locator(".block", { hasText: "agg-three" }).getByText(/[23] partitions/).waitFor({ timeout: 20000 });
  await page.getByText(/agg-three joined|handed over/).first().waitFor();
}));

test("a_killed_owner_is_silent_then_taken_over", (context) => visit(context, `${group}/processors`, async (page) => {
  await page.locator(".block", { hasText: "agg-two" }).waitFor();
  context.hub.processors.get("agg-two").kill("SIGKILL");
  await head(page, /agg-two is silent/, 20000);
  await page.locator(".block.silent", { hasText: "silent for" }).waitFor();
  await page.locator(".block", { hasText: "agg-two" }).waitFor({ state: "detached", timeout: 30000 });
  const { partitions } = await api(context.hub, "/hubs/homes/groups/aggregator/processors");
  assert.ok(partitions.every((one) => one.owner !== "agg-two"));
}));

test("a_partition_says_why_it_is_here", (context) => visit(context, `${group}/processors?p=1`, async (page) => {
  const panel = page.getByRole("complementary", { name: "Partition 01" });
  await panel.getByText(/owns it since/).waitFor();
  await panel.getByText("Newest event").waitFor();
}));

// A handler that fails at what says "poison".
test("dead_letters_are_resent_edited_and_discarded", async (context) => {
  const { hub } = context, letters = "/ui/hubs/doors/groups/alarms/letters";
  await api(hub, "/hubs", { name: "doors", partitions: 1 });
  const stored = await api(hub, "/hubs/doors/events", { events: [1, 2, 3].map((n) => ({ body: `poison ${n}`, partition_key: `home-${n}`, content_type: "text/plain" })) });
  assert.equal(stored.sent[0].last, 2);
  const child = endWithUs(spawn(process.env.EVENKEEL, ["process", "doors", "--group", "alarms", "--create-group", "--store", hub.store, "--id", "alarm-one",
    "--profile", "fast", "--attempts", "1", "--dead-letter", "store", "--exec", "! grep -q poison"], { env: { ...process.env, EVENKEEL_HUB: hub.connectionString() }, stdio: ["ignore", "ignore", "ignore"] }));
  hub.processors.set("alarm-one", child);
  const found = async (want) => {
    for (const end = Date.now() + 40000; Date.now() < end; await new Promise((done) => setTimeout(done, 200))) {
      const answer = await fetch(`http://localhost:${hub.http_port}/api/v1/hubs/doors/groups/alarms/dead-letters`);
      if (answer.ok && want(await answer.clone().json())) return answer.json();
    }
    throw new Error("the letters are not as expected");
  };
  await found((list) => list.total === 3);
  child.kill("SIGTERM");  // what is resent is not to fail again
  await new Promise((done) => child.once("exit", done));
  const event = (seq) => api(hub, `/hubs/doors/partitions/0/events/${seq}`);
  await visit(context, `${letters}?open=0/0`, async (page) => {
    await page.getByRole("complementary").getByRole("button", { name: "Resend…", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resend 1" }).click();
    await head(page, "2 events were dead-lettered.");
    const again = await event(3);
    assert.deepEqual([again.body.value, again.partition_key, again.content_type], ["poison 1", "home-1", "text/plain"]);
  });
  await visit(context, `${letters}?open=0/1`, async (page) => {
    await page.getByRole("button", { name: "Edit, then resend…" }).click();
    await page.getByRole("dialog").getByLabel("Body").fill("mended");
    await page.getByRole("dialog").getByRole("button", { name: "Resend 1" }).click();
    await head(page, "1 event was dead-lettered.");
    const again = await event(4);
    assert.deepEqual([again.body.value, again.partition_key], ["mended", "home-2"]);
  });
  await visit(context, `${letters}?open=0/2`, async (page) => {
    await page.getByRole("complementary").getByRole("button", { name: "Discard…" }).click();
    await page.getByLabel("Type 1 to confirm").fill("1");
    await page.getByRole("button", { name: "Discard 1" }).click();
    await head(page, "Nothing here. Good.");
  });
  assert.equal((await api(hub, "/hubs/doors/partitions")).partitions[0].last_sequence_number, 4);
});

test("an_overview_lists_the_hub_and_the_group", async (context) => {
  const sent = spawn(process.env.EVENKEEL, ["send", "homes", "--key", "home-1", '{"kind":"door"}'], { env: { ...process.env, EVENKEEL_HUB: context.hub.connectionString() }, stdio: "inherit" });
  assert.equal(await new Promise((done) => sent.once("exit", done)), 0);
  await visit(context, "/ui/", async (page) => {
    await page.getByRole("link", { name: "homes / aggregator" }).waitFor({ timeout: 20000 });
    await page.getByRole("heading", { name: "Last moves" }).waitFor();
  });
});

test("hubs_partitions_and_keys_are_listed", async (context) => {
  await visit(context, "/ui/hubs", (page) => head(page, /hubs, .* in\./));
  await visit(context, "/ui/hubs/homes/partitions", (page) => page.getByRole("row").nth(8).waitFor());
  await visit(context, "/ui/keys", (page) => page.getByText("RootManageSharedAccessKey").first().waitFor());
});

test("connections_show_the_processors_and_partitions_their_readers", async (context) => {
  await visit(context, "/ui/connections", async (page) => {
    await head(page, /connections?, \d+ reads?\./);
    await page.getByRole("cell", { name: /^reads homes \d\d for aggregator, epoch \d+$/ }).first().waitFor();
    await page.getByRole("cell", { name: /^127\.0\.0\.1:\d+$|^\[::1\]:\d+$/ }).first().waitFor();
  });
  await visit(context, "/ui/hubs/homes/partitions", (page) => page.getByRole("cell", { name: /^aggregator, epoch \d+$/ }).first().waitFor());
  // Two answers of two moments: an epoch is in the store before its reader is there.
  const differ = async () => {
    const { readers } = await api(context.hub, "/hubs/homes/readers"), { partitions } = await api(context.hub, "/hubs/homes/groups/aggregator/processors");
    return partitions.filter((one) => readers.find((reader) => reader.partition === one.p)?.epoch !== one.epoch);
  };
  let left = await differ();
  for (const end = Date.now() + 20000; left.length && Date.now() < end; left = await differ()) await new Promise((done) => setTimeout(done, 100));
  assert.deepEqual(left, []);
});

test("what_is_hostile_in_an_event_is_shown_as_text", async (context) => {
  const evil = "<img src=x onerror=window.hit=1><script>window.hit=1</script>\u0000\u001b[31m\u202e";
  const bytes = Buffer.from([0xff, 0xfe, 0x3c, 0x69, 0x6d, 0x67, 0x00]).toString("base64");
  await api(context.hub, "/hubs", { name: "hostile", partitions: 1 });
  await api(context.hub, "/hubs/hostile/events", { partition: 0, events: [{ body: evil, properties: { [evil.slice(0, 60)]: evil } }, { body_base64: bytes }, { body: JSON.stringify({ [evil]: evil }), content_type: "application/json" }] });
  await api(context.hub, "/hubs/hostile/events", { partition: 0, events: [{ body: "x".repeat(900_000) }] });
  for (const [seq, as] of [[0, "json"], [0, "text"], [0, "hex"], [0, "amqp"], [1, "json"], [1, "text"], [2, "json"], [3, "text"]]) await visit(context, `/ui/hubs/hostile/events?open=0/${seq}&as=${as}`, async (page) => {
    await page.getByRole("complementary").getByText("Where it is").waitFor();
    assert.deepEqual(await page.evaluate(() => ({ hit: window.hit, images: document.images.length, scripts: document.scripts.length })), { hit: undefined, images: 0, scripts: 1 });
  });
});

// Sends to partition 0, so many a second, until it is stopped.
function load(hub, a_second) {
  let goes = true, sent = 0;
  const ended = (async () => {
    for (const began = Date.now(); goes;) {
      const due = Math.min(1000, Math.floor((Date.now() - began) / 1000 * a_second) - sent);
      if (due > 0) await api(hub, "/hubs/homes/events", { partition: 0, events: Array.from({ length: due }, () => ({ body: '{"kind":"motion"}' })) });
      sent += due;
      await new Promise((done) => setTimeout(done, 100));
    }
  })();
  return { stop: () => { goes = false; return ended; } };
}

test("a_lag_figure_is_within_a_second_of_the_truth_under_load", (context) => visit(context, `${group}/processors`, async (page) => {
  await page.locator("tr[data-partition='0'] .behind").waitFor();
  const sending = load(context.hub, 5000), checkpoint = async () => (await api(context.hub, "/hubs/homes/groups/aggregator/processors")).partitions[0].checkpoint;
  try {
    await page.locator("tr[data-partition='0'] .checkpoint", { hasText: /^[\d,]+$/ }).waitFor({ timeout: 15000 });
    await api(context.hub, "/hubs/homes/groups/aggregator/requests", { action: "pause" });
    await page.locator("tr[data-partition='0']").getByText("paused").first().waitFor({ timeout: 20000 });
    // The hub itself: its newest event, and the one at the checkpoint, which stays while the group is paused.
    let last = -1;
    for (let now = await checkpoint(); now !== last; now = await checkpoint()) { last = now; await page.waitForTimeout(2500); }  // members obey within two heartbeats
    const at = Date.parse((await api(context.hub, `/hubs/homes/partitions/0/events/${last}`)).enqueued_at);
    const truth = async () => (Date.parse((await api(context.hub, "/hubs/homes/partitions")).partitions[0].last_enqueued_at) - at) / 1000;
    const seconds = (text) => { const [, minutes, rest] = /^(?:(\d+) min )?([\d.]+) s$/.exec(text.trim()) ?? [null, 0, NaN]; return Number(minutes ?? 0) * 60 + Number(rest); };
    // The feed ticks every 0.75 s, so a short stall of this machine shows: the best of three series counts.
    let best = Infinity;
    for (let series = 0; series < 3 && !(best <= 1); ++series) {
      let worst = 0;
      for (let i = 0; i < 40; ++i) {
        const before = await truth(), shown = seconds(await page.locator("tr[data-partition='0'] .behind").innerText()), after = await truth();
        const rounding = shown < 10 ? 0.05 : 0.5, late = before - shown - rounding, early = shown - after - rounding;
        worst = Math.max(worst, late, early);
        await page.waitForTimeout(100);
      }
      best = Math.min(best, worst);
      console.log(`    at most ${worst.toFixed(2)} s from the truth`);
    }
    assert.ok(best <= 1, `${best} s`);
  } finally {
    await sending.stop();
    await api(context.hub, "/hubs/homes/groups/aggregator/requests", { action: "resume" });
  }
}));

test("live_events_arrive_and_what_is_not_shown_is_counted", (context) => visit(context, "/ui/hubs/homes/events?tail=1", async (page) => {
  const sending = load(context.hub, 500);
  try {
    await page.getByText(/Shows 20 a second; .*are not shown/).waitFor({ timeout: 15000 });
    await page.getByRole("row").nth(10).waitFor();
    await page.locator("main").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "▶ Live" }).waitFor();
  } finally {
    await sending.stop();
  }
}));

// Each operation of docs/openapi.json with the hub that the tests before have used, what is refused too; the feed has no end,
// and only the demo has a demo.
test("answers_are_as_the_document_says", async ({ hub }) => {
  const here = `http://localhost:${hub.http_port}`, doors = "/api/v1/hubs/doors", of_homes = "/api/v1/hubs/homes/groups/aggregator", asked = new Set(), problems = [];
  await api(hub, "/hubs/doors/events", { events: [{ body: "poison 4", partition_key: "k" }] });
  const child = endWithUs(spawn(process.env.EVENKEEL, ["process", "doors", "--group", "alarms", "--store", hub.store, "--id", "alarm-two", "--profile", "fast", "--attempts", "1", "--dead-letter", "store", "--exec", "! grep -q poison"],
    { env: { ...process.env, EVENKEEL_HUB: hub.connectionString() }, stdio: ["ignore", "ignore", "ignore"] }));
  for (let total = 0; total === 0; await new Promise((done) => setTimeout(done, 200))) total = (await api(hub, "/hubs/doors/groups/alarms/dead-letters")).total;
  child.kill("SIGTERM");
  const [letter] = (await api(hub, "/hubs/doors/groups/alarms/dead-letters")).dead_letters, letters = `${doors}/groups/alarms/dead-letters`;
  const calls = [["GET", "/health"], ["GET", "/api/v1/server"], ["GET", "/api/v1/overview"], ["GET", "/api/v1/groups"], ["GET", "/api/v1/hubs"], ["GET", "/api/v1/connections?limit=5"], ["GET", "/api/v1/keys"],
    ["POST", "/api/v1/hubs", { name: "short-lived", partitions: 2 }], ["PATCH", "/api/v1/hubs/short-lived", { partitions: 3 }], ["GET", "/api/v1/hubs/short-lived"], ["POST", "/api/v1/hubs/short-lived/purge", { partition: 0 }],
    ["POST", "/api/v1/hubs/short-lived/groups", { name: "g" }], ["GET", "/api/v1/hubs/short-lived/groups"], ["GET", "/api/v1/hubs/short-lived/groups/g"], ["DELETE", "/api/v1/hubs/short-lived/groups/g"],
    ["GET", `${doors}/partitions`], ["GET", `${doors}/readers`], ["GET", `${doors}/connections`], ["GET", `${doors}/events?from=newest&since=0.1`], ["GET", `${doors}/events?from=oldest&limit=2&whole=1`], ["GET", `${doors}/partitions/0/events/0`],
    ["POST", `${doors}/events`, { events: [{ body: "x", properties: { a: 1 } }], partition: 0 }], ["POST", `${doors}/events`, { copy_of: { hub: "doors", partition: 0, sequence_number: 0 } }],
    ["GET", `${of_homes}/processors`], ["GET", `${of_homes}/explain?p=0`], ["GET", `${of_homes}/lag?range=24h`], ["GET", `${of_homes}/scale?target=100`],
    ["POST", `${of_homes}/requests`, { action: "look" }], ["POST", `${of_homes}/requests`, { action: "seek", to: "oldest", partitions: [0], preview: true }], ["POST", `${of_homes}/requests`, { action: "fly" }],
    ["GET", letters], ["GET", `${letters}/${letter.p}/${letter.seq}`], ["POST", `${letters}/${letter.p}/${letter.seq}/resend`, { remove: false }], ["DELETE", `${letters}/${letter.p}/${letter.seq}`], ["GET", `${letters}/${letter.p}/${letter.seq}`],
    ...["/api/v1", "/api/v1/hubs/short-lived"].flatMap((base) => [["POST", `${base}/keys`, { name: "made", rights: ["Listen"] }], ["GET", `${base}/keys`], ["GET", `${base}/keys/made`], ["POST", `${base}/keys/made/rotate`, { key: "primary" }], ["DELETE", `${base}/keys/made`]]),
    ["DELETE", "/api/v1/hubs/short-lived"], ["GET", "/api/v1/hubs/short-lived"]];
  for (const [method, path, body] of calls) {
    const url = new URL(here + path), answer = await fetch(url, { method, ...(body ? { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) } : {}) }), text = await answer.text();
    asked.add(name_of(method, url));
    if (answer.status >= 500) problems.push(`${method} ${path}: ${answer.status} ${text}`);
    problems.push(...(answer.status < 400 ? request_problems(method, url, body && JSON.stringify(body)) : []), ...answer_problems(method, url, answer.status, text ? JSON.parse(text) : undefined));
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(operations.filter((one) => !asked.has(one)), ["GET /metrics", "POST /api/v1/demo", "GET /api/v1/live"]);
});

// CPU time of the hub, in seconds.
const used = (hub) => readFileSync(`/proc/${hub.process.pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((sum, ticks) => sum + Number(ticks) / 100, 0);

// What an open Processors page asks for: its feed, the group each second for heartbeats, and the server with its hubs and groups
// each ten seconds. Answers how many bytes came.
async function open_page(hub, signal) {
  const here = `http://localhost:${hub.http_port}/api/v1`;
  let bytes = 0;
  const ask = async (path) => { bytes += (await (await fetch(here + path, { signal })).arrayBuffer()).byteLength; };
  const pause = (ms) => new Promise((done) => { const timer = setTimeout(done, ms); signal.addEventListener("abort", () => { clearTimeout(timer); done(); }); });
  const beat = async () => {
    for (let turn = 0; !signal.aborted; ++turn, await pause(1000)) {
      await ask("/hubs/homes/groups/aggregator/processors");
      if (turn % 10 === 0) await Promise.all(["/server", "/groups", "/hubs"].map(ask));
    }
  };
  const feed = await fetch(`${here}/live?topics=group:homes/aggregator`, { signal });
  await Promise.allSettled([beat(), (async () => { for await (const part of feed.body) bytes += part.length; })()]);
  return bytes;
}

// How long each request of a producer took, in milliseconds, until it is stopped.
function producer(hub, a_second) {
  let goes = true;
  const taken = [], events = Array.from({ length: Math.round(a_second / 50) }, () => ({ body: '{"kind":"motion"}' }));
  const ended = (async () => {
    for (let due = performance.now(); goes; due += 20) {
      await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
      const began = performance.now();
      await api(hub, "/hubs/homes/events", { partition: 0, events });
      taken.push(performance.now() - began);
    }
  })();
  return { p99: (from) => taken.slice(from).sort((a, b) => a - b)[Math.floor((taken.length - from) * 0.99)], count: () => taken.length, stop: () => { goes = false; return ended; } };
}

test("ten_dashboards_cost_the_hub_at_most_3_percent_of_a_core", async ({ hub }) => {
  const seconds = 8, sending = producer(hub, 2000);
  const of_seconds = async () => {
    const before = used(hub), from = sending.count();
    await new Promise((done) => setTimeout(done, seconds * 1000));
    return { cpu: used(hub) - before, p99: sending.p99(from) };
  };
  try {
    // The best of several turns: what else runs on this machine changes the times of the same work.
    let share = Infinity, slower = Infinity;
    for (let turn = 0; turn < 4 && !(share <= 0.03 && slower <= 5); ++turn) {
      const alone = await of_seconds(), abort = new AbortController(), pages = Array.from({ length: 10 }, () => open_page(hub, abort.signal));
      const watched = await of_seconds();
      abort.abort();
      const bytes = (await Promise.all(pages)).reduce((sum, one) => sum + one, 0);
      share = Math.min(share, (watched.cpu - alone.cpu) / seconds);
      slower = Math.min(slower, watched.p99 - alone.p99);
      console.log(`    ${((watched.cpu - alone.cpu) / seconds * 100).toFixed(1)} % of a core, ${Math.round(bytes / seconds / 1000)} KB a second; p99 of a producer ${alone.p99.toFixed(1)} ms alone, ${watched.p99.toFixed(1)} ms watched`);
      assert.ok(bytes > 0);
    }
    assert.ok(share <= 0.03, `${share}`);
    assert.ok(slower <= 5, `${slower} ms`);
  } finally {
    await sending.stop();
  }
});

await main("DashboardLive", {
  before: async () => {
    const hub = new Hub(process.env.EVENKEEL);
    hub.store = `sqlite:${join(hub.folder, "progress.db")}`;
    hub.processors = new Map();
    await hub.start("--hub", "homes:8", "--watch-store", hub.store);
    return { hub, browser: await browser() };
  },
  after: async ({ hub, browser: chromium }) => {
    await chromium.close();
    await Promise.all([...hub.processors.values()].map((child) => child.exitCode ?? child.signalCode ?? new Promise((done) => {
      child.once("exit", done);
      child.kill("SIGTERM");
    })));
    await hub.remove();
  },
  timeoutSeconds: 120,
});
