// The dashboard in Chromium against the stand-in: hostile input, a thousand partitions, a server that goes away,
// accessibility, keyboard, sign-in. Policy violations and script errors fail every test.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { main, test } from "../interop/js/harness.mjs";
import { violations } from "./support/axe.mjs";
import { args, browser, open } from "./support/browser.mjs";
import { evil, thousand } from "./support/groups.mjs";
import { stand_in } from "./support/stand_in.mjs";
import { head, visit } from "./support/visit.mjs";

const group = "/ui/hubs/homes/groups/aggregator";
const large = "/ui/hubs/telemetry/groups/indexer/processors";

test("verdicts_name_what_matters_first", async (context) => {
  for (const [state, words] of [["balanced", "On an even keel."], ["takeover", /agg-03da is silent\. Take-over (in|is due)/],
    ["handover", "agg-e5a0 joined. 4 partitions are on their way to it."], ["why", "2 partitions need you."],
    ["failed", "The store of this group cannot be opened."], ["nobody", "Nobody reads homes / aggregator."]])
    await visit(context, state, `${group}/processors`, (page) => head(page, words));
});

test("the_picture_is_a_table_with_words", async (context) => {
  await visit(context, "why", `${group}/processors`, async (page) => {
    await head(page, "2 partitions need you.");
    await page.getByRole("rowheader", { name: "Partition 11" }).waitFor();  // rows are painted a frame after the heading
    assert.equal(await page.getByRole("cell", { name: "1 minute 14 seconds behind, stalled" }).count(), 1);
    assert.match(await page.locator("tr[data-partition='11'] .ownercell").textContent(), /owner C, agg-03da, epoch 14/);
  });
});

test("a_hand_over_says_what_was_repeated", (context) => visit(context, "handover", `${group}/processors`, async (page, server) => {
  await page.getByText(/Nothing was repeated so far\.$/).waitFor();
  server.event("move", { topic: "group:homes/aggregator", at: "2026-11-18T14:32:08.200Z", p: 8, from: "agg-7f2c", to: "agg-e5a0", reason: "handed over: 'agg-e5a0' joined", gap_ms: 38, repeated: 212 });
  await page.getByText(/212 events were repeated\.$/).waitFor();
}));

test("a_partition_says_why_it_is_here_in_the_servers_words", async (context) => {
  const { sentences } = JSON.parse(readFileSync(new URL("support/explain.json", import.meta.url), "utf8"));
  await visit(context, "why", `${group}/processors?p=11`, async (page) => {
    for (const sentence of sentences) await page.getByRole("complementary").getByText(sentence, { exact: true }).waitFor();
  });
});

test("a_move_travels_and_is_listed", async (context) => {
  await visit(context, "balanced", `${group}/processors`, async (page, server) => {
    await head(page, "On an even keel.");
    const topic = "group:homes/aggregator", at = new Date().toISOString();
    server.event("owner", { topic, p: 0, owner: "agg-b91e", epoch: 15, owned_since: at, phase: "owned", next: null });
    server.event("move", { topic, at, p: 0, from: "agg-7f2c", to: "agg-b91e", reason: "handed over: shares differ", gap_ms: 38, repeated: 0 });
    await page.getByText("handed over: shares differ").waitFor();
    await page.locator("tr[data-partition='0'] .note", { hasText: "B reads" }).waitFor();
    assert.match(await page.locator("tr[data-partition='0'] .ownercell").textContent(), /owner B, agg-b91e, epoch 15/);
  });
});

test("hostile_names_and_bodies_stay_text", async (context) => {
  const name = encodeURIComponent(evil), paths = ["/ui/", "/ui/hubs", "/ui/connections", "/ui/keys", `/ui/hubs/${name}/partitions`, `/ui/hubs/${name}/send`,
    `/ui/hubs/${name}/events?open=0/1`, `/ui/hubs/${name}/events?open=0/1&as=amqp`, `/ui/hubs/${name}/groups/${name}/processors?p=3`,
    `/ui/hubs/${name}/groups/${name}/processors?view=table`, `/ui/hubs/${name}/groups/${name}/processors?view=grid`, `/ui/hubs/${name}/groups/${name}/lag`,
    `/ui/hubs/${name}/groups/${name}/letters?open=7/18241507`];
  const server = await stand_in(process.env.DASHBOARD, "hostile");
  const { page, problems } = await open(context.browser.context, `${server.address}/ui/`);
  for (const path of paths) {
    await page.goto(server.address + path);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.getByText("<img src=x").first().waitFor({ state: "attached" });
    const found = await page.evaluate(() => ({
      hit: window.hit, images: document.images.length, scripts: document.scripts.length,
      hidden: /[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText), wide: document.documentElement.scrollWidth > innerWidth,
    }));
    assert.deepEqual(found, { hit: undefined, images: 0, scripts: 1, hidden: false, wide: false }, path.slice(0, 40));
  }
  await page.close();
  await server.close();
  assert.deepEqual(problems, []);
});

test("addresses_that_are_no_view_say_so", async (context) => {
  await visit(context, "balanced", "/ui/nonsense", (page) => head(page, "There is no such page."));
  await visit(context, "balanced", "/ui/hubs/nowhere/events", (page) => head(page, /There is no hub "nowhere"/));
  await visit(context, "balanced", "/ui/hubs/homes/groups/other/lag", (page) => head(page, /No watched store has/));
  await visit(context, "empty", "/ui/", (page) => head(page, "Ready. No events yet."));
});

test("a_thousand_partitions_update_within_50_ms", async (context) => {
  await visit(context, "thousand", large, async (page, server) => {
    await head(page, /idx-17 is silent/);
    const session = await context.browser.context.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });  // not the time of others on this machine
    const script = async () => (await session.send("Performance.getMetrics")).metrics.find((one) => one.name === "ScriptDuration").value * 1000;
    const rounds = 5, all = thousand().partitions, before = await script();
    for (let round = 1; round <= rounds; ++round) {
      const behind = all.map((one) => one.behind_ms + round);
      server.event("tick", { topic: "group:telemetry/indexer", at: new Date().toISOString(), p: all.map((one) => one.p), in: behind, end: behind, cp: behind, behind_ms: behind, lag: behind, loss_s: behind, stored_ms: behind });
      await page.waitForTimeout(1000);  // one tick a second is what is measured
    }
    const each = (await script() - before) / rounds;
    console.log(`    ${each.toFixed(1)} ms of scripting a second`);
    assert.ok(each <= 50, `${each} ms`);
    assert.ok(await page.locator("canvas").count() === 1);
  });
});

test("the_grid_is_walked_by_keys", async (context) => {
  await visit(context, "thousand", large, async (page) => {
    await head(page, /idx-17 is silent/);
    const cell = page.getByRole("gridcell");
    await cell.focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await cell.getAttribute("aria-label"), /^Partition \d{3}: .* behind/);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary").getByRole("heading", { name: /Partition \d{3}/ }).waitFor();
    await page.locator("aside.panel h2:focus").waitFor();  // it takes its keys when it takes the focus
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await page.keyboard.press("n");
    await page.getByRole("complementary").getByRole("heading", { name: "Partition 482" }).waitFor();
  });
});

test("keys_lead_everywhere_and_not_while_typing", async (context) => {
  await visit(context, "why", "/ui/", async (page) => {
    await page.getByRole("link", { name: "homes / aggregator" }).first().waitFor();  // some keys lead to the group
    for (const [key, path] of [["h", "/ui/hubs"], ["p", `${group}/processors`], ["l", `${group}/lag`], ["d", `${group}/letters`], ["c", "/ui/connections"], ["k", "/ui/keys"], ["e", "/ui/hubs/homes/events"], ["s", "/ui/hubs/homes/send"]]) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL((url) => url.pathname === path);
    }
    await page.getByLabel("Partition key").fill("go");
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    assert.equal(new URL(page.url()).pathname, "/ui/hubs/homes/send");
    await page.locator("main").focus();
    await page.keyboard.press("/");
    await page.getByRole("dialog").getByRole("textbox").fill("agg-03");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.pathname === `${group}/processors`);
    await page.locator("aside.panel h2:focus").waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL((url) => !url.searchParams.has("p"));
    await page.keyboard.press("3");
    await page.getByRole("columnheader", { name: "Crash repeats" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
  });
});

test("a_server_that_goes_away_is_said_and_comes_back", async (context) => {
  await visit(context, "balanced", `${group}/processors`, async (page, server) => {
    await head(page, "On an even keel.");
    server.away = true;
    server.drop();
    await page.getByRole("heading", { level: 1, name: /No answer from the server since \d\d:\d\d:\d\d/ }).waitFor({ timeout: 12000 });
    await page.getByText("Owners go on without this page.").waitFor();
    assert.equal(await page.getByRole("button", { name: "Pause…" }).count(), 0);
    await page.locator("tr[data-partition='0'] .stored", { hasNotText: /ago/ }).waitFor();
    server.away = false;
    await page.getByRole("button", { name: "Try now" }).click();
    await page.getByText(/Back\. \d+ moves? meanwhile/).waitFor({ timeout: 10000 });
    await head(page, "On an even keel.");
  });
});

test("sign_in_keeps_the_key_in_the_tab_only", async (context) => {
  await visit(context, "closed", "/ui/keys", async (page, server) => {
    await page.waitForURL((url) => url.pathname === "/ui/sign-in");
    await page.getByLabel("Connection string or key").fill("Endpoint=sb://x/;SharedAccessKeyName=wrong;SharedAccessKey=abc");
    await page.getByText("This key is not known here.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Sign in" }).isDisabled());
    await page.getByLabel("Connection string or key").fill("Endpoint=sb://x/;SharedAccessKeyName=operators;SharedAccessKey=the-secret-text");
    await page.getByText("operators, reads and manages all hubs").waitFor();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL((url) => url.pathname === "/ui/keys");
    await head(page, /2 keys/);
    const kept = await page.evaluate(() => ({ local: JSON.stringify(localStorage), session: JSON.stringify(sessionStorage), html: document.documentElement.outerHTML, url: location.href }));
    assert.ok(kept.session.includes("the-secret-text"));
    for (const place of ["local", "html", "url"]) assert.ok(!kept[place].includes("the-secret-text"), place);
    for (const request of server.requests) assert.ok(!JSON.stringify(request).includes("the-secret-text"));
    // Not the last request of all: Chromium asks for an icon when it likes.
    assert.match(server.requests.findLast((request) => request.path.startsWith("/api/v1/keys")).authorization, /^SharedAccessSignature sr=127\.0\.0\.1&sig=[^&]+&se=\d+&skn=operators$/);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL((url) => url.pathname === "/ui/sign-in");
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
});

test("sign_in_over_plain_http_from_elsewhere_is_refused_with_the_reason", async () => {
  const server = await stand_in(process.env.DASHBOARD, "closed");
  const elsewhere = await browser({ args: [...args, "--host-resolver-rules=MAP hub.example 127.0.0.1"] });
  try {
    const { page, problems } = await open(elsewhere.context, `${server.address.replace("127.0.0.1", "hub.example")}/ui/keys`);
    await page.getByText("Not over this connection: it is plain HTTP from another machine, so everybody on the way could read the key.").waitFor();
    await page.getByText(/ssh -L 8080:localhost:/).waitFor();
    assert.equal(await page.getByRole("textbox").count(), 0);
    assert.deepEqual(problems, []);
  } finally {
    await elsewhere.close();
    await server.close();
  }
});

test("connections_tell_who_from_where_and_what_each_link_does", async (context) => {
  await visit(context, "why", "/ui/connections", async (page) => {
    await head(page, "2 connections, 1 reads.");
    await page.getByRole("cell", { name: "10.0.0.4:50212" }).waitFor();
    await page.getByRole("cell", { name: "reads homes 00 for aggregator, epoch 14" }).waitFor();
    await page.getByRole("cell", { name: "sends to homes" }).waitFor();
    await page.getByRole("cell", { name: "10,002/s" }).waitFor();
  });
});

test("partitions_name_their_readers_with_epochs", async (context) => {
  await visit(context, "why", "/ui/hubs/homes/partitions", async (page) => {
    await page.getByRole("cell", { name: /^aggregator, epoch \d+ and 1 more$/ }).first().waitFor();
  });
});

test("an_event_is_sent_and_resent_and_exported", async (context) => {
  await visit(context, "why", "/ui/hubs/homes/send", async (page, server) => {
    await head(page, "Send to homes");
    await page.getByLabel("Body").fill('{"kind":"door"}');
    await page.getByLabel(/^Properties/).fill("a=1\nb=two=2");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.getByRole("link", { name: "partition 11, 18,338,221" }).waitFor();
    const { events } = JSON.parse(server.requests.findLast((one) => one.method === "POST").body);
    assert.deepEqual(events, [{ body: '{"kind":"door"}', partition_key: "home-1", content_type: "application/json", properties: { a: "1", b: "two=2" } }]);
    await page.getByLabel(/^Properties/).fill("nonsense");
    assert.ok(await page.getByRole("button", { name: "Send", exact: true }).isDisabled());
  });
  await visit(context, "why", "/ui/hubs/homes/events?open=11/18289733", async (page, server) => {
    await page.getByRole("button", { name: "Resend…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resend" }).click();
    await page.getByText("It is now 18,338,221 of partition 11.").waitFor();
    assert.ok(server.requests.some((one) => one.method === "POST" && one.path === "/api/v1/hubs/homes/events"));
    await page.keyboard.press("Escape");
    for (const [tab, words] of [["Text", '"kind":"glass"'], ["Hex", "000000  "], ["AMQP", "application-properties"], ["JSON", '"glass"']]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByRole("complementary").getByText(words).first().waitFor();
    }
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
    assert.equal(file.suggestedFilename(), "homes.ndjson");
  });
});

test("hubs_and_keys_are_made_rotated_and_removed", async (context) => {
  await visit(context, "why", "/ui/hubs", async (page, server) => {
    await page.getByRole("button", { name: "New hub…" }).click();
    await page.getByLabel("Name").fill("meters");
    await page.getByLabel("Partitions").fill("8");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.waitForURL((url) => url.pathname === "/ui/hubs/meters/partitions");
    assert.deepEqual(JSON.parse(server.requests.find((one) => one.method === "POST").body), { name: "meters", partitions: 8 });
  });
  await visit(context, "why", "/ui/keys", async (page, server) => {
    await page.getByRole("button", { name: "New key…" }).click();
    await page.getByLabel("Name").fill("reader");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("dialog", { name: "The key is made" }).waitFor();
    assert.ok(!(await page.content()).includes("made-key"), "a key's text is copied, not drawn");
    await page.keyboard.press("Escape");
    for (const [action, method, path] of [["Rotate", "POST", "/rotate"], ["Remove", "DELETE", "/keys/devices"]]) {
      await page.getByRole("button", { name: `${action}…` }).click();
      const act = page.getByRole("dialog").getByRole("button", { name: action, exact: true });
      assert.ok(await act.isDisabled());
      await page.getByLabel(/Type its name/).fill("devices");
      await act.click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.ok(server.requests.some((one) => one.method === method && one.path.endsWith(path)), action);
    }
  });
});

test("a_connection_string_has_the_port_of_the_server", async (context) => {
  const of_root = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=shown-key", of_devices = "SharedAccessKeyName=devices;SharedAccessKey=shown-key;EntityPath=homes";
  for (const [path, row, words] of [["/ui/", null, of_root], ["/ui/keys", "RootManageSharedAccessKey", of_root], ["/ui/keys", "devices", of_devices]])
    await visit(context, "why", path, async (page, server) => {
      await page.locator("main h1").first().waitFor();
      await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }));
      const copy = (row ? page.getByRole("row", { name: row }) : page.locator("main")).locator("button", { hasText: /^(Copy connection string|Copied|No answer from the server\.)$/ });
      await copy.click();
      await copy.getByText("Copied").waitFor();
      assert.equal(await page.evaluate(() => window.copied), `Endpoint=sb://127.0.0.1:5673;${words};UseDevelopmentEmulator=true;`);
      server.away = true;
      await copy.click();
      await copy.getByText("No answer from the server.").waitFor();
    });
});

test("a_group_is_paused_and_a_member_drained", async (context) => {
  await visit(context, "why", `${group}/processors?p=11`, async (page, server) => {
    const asked = () => JSON.parse(server.requests.findLast((one) => one.path.endsWith("/requests")).body);
    await page.getByRole("button", { name: "Pause…" }).first().click();
    await page.getByRole("dialog").getByText(/events a second wait meanwhile/).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: /Asked .* ago/ }).waitFor();
    assert.deepEqual(asked(), { action: "pause" });
    await page.getByRole("button", { name: "Not taken up after 10 s" }).waitFor({ timeout: 15000 });
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Drain/ }).click();
    const drain = page.getByRole("dialog").getByRole("button", { name: "Drain", exact: true });
    assert.ok(await drain.isDisabled());
    await page.getByLabel(/Type its name/).fill("agg-03da");
    await drain.click();
    await page.getByRole("button", { name: /Asked .* ago/ }).waitFor();
    assert.deepEqual(asked(), { action: "drain", member: "agg-03da" });
  });
});

test("an_overview_lists_what_needs_somebody", async (context) => {
  await visit(context, "why", "/ui/", async (page) => {
    await head(page, "Three things need you.");
    await page.getByText("Partition 11 of homes / aggregator is stalled.").waitFor();
    await page.getByText("until the disk is full, 212 GB left").waitFor();
    await page.getByRole("link", { name: "Look →" }).first().click();
    await page.waitForURL((url) => url.searchParams.get("p") === "11");
  });
});

test("changes_say_beforehand_what_they_do", async (context) => {
  await visit(context, "why", `${group}/processors?p=11`, async (page, server) => {
    await page.getByRole("button", { name: "Seek…" }).click();
    await page.getByLabel("Where to").selectOption("oldest");
    await page.getByText("Repeats 12,410 events, skips none.").waitFor();
    const seek = page.getByRole("button", { name: "Seek", exact: true });
    assert.ok(await seek.isDisabled());
    await page.getByLabel("Type 11 to confirm").fill("11");
    await seek.click();
    await page.getByRole("button", { name: /Asked .* ago/ }).waitFor();
    const body = JSON.parse(server.requests.findLast((one) => one.path.endsWith("/requests")).body);
    assert.deepEqual(body, { action: "seek", partitions: [11], to: "oldest", preview: false });
  });
});

test("late_answers_of_an_earlier_question_are_dropped", async (context) => {
  await visit(context, "why", "/ui/hubs/homes/events", async (page, server) => {
    const bodies = page.locator(".bodycell"), where = page.getByLabel("Where");
    await bodies.nth(20).waitFor();
    const ask = async (kind) => { await where.fill(`body.kind == "${kind}"`); await where.press("Enter"); };
    const answer = server.hold("glass");
    await ask("glass");
    await page.waitForFunction(() => location.search.includes("glass"));
    await ask("motion");
    await page.waitForFunction(() => [...document.querySelectorAll(".bodycell")].every((one) => one.textContent.includes("motion")));
    const late = page.waitForResponse((one) => one.url().includes("glass"));
    answer();
    await (await late).finished();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.deepEqual((await bodies.allTextContents()).filter((text) => !text.includes("motion")), []);
  });
  await visit(context, "why", `${group}/processors?p=11`, async (page, server) => {
    await page.getByRole("button", { name: "Seek…" }).click();
    const answer = server.hold('"to":"oldest"'), asked = page.waitForRequest((one) => one.postData()?.includes("oldest"));
    await page.getByLabel("Where to").selectOption("oldest");
    await asked;
    await page.getByLabel("Where to").selectOption("newest");
    await page.getByText("Repeats none, skips 48,726 events.").waitFor();
    const late = page.waitForResponse((one) => one.request().postData()?.includes("oldest"));
    answer();
    await (await late).finished();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    await page.getByText("Repeats none, skips 48,726 events.").waitFor();
  });
});

test("dead_letters_are_resent_and_discarded", async (context) => {
  await visit(context, "why", `${group}/letters`, async (page, server) => {
    await head(page, "7 events were dead-lettered.");
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export" }).click()]);
    const exported = readFileSync(await file.path(), "utf8").split("\n").map((line) => JSON.parse(line));
    assert.equal(exported.length, 3);
    for (const letter of exported) assert.equal(JSON.parse(letter.body.value).kind, "co");
    await page.getByLabel("Select 7/18241507").check();
    await page.getByRole("button", { name: "Discard…" }).click();
    assert.ok(await page.getByRole("button", { name: "Discard 1" }).isDisabled());
    await page.getByLabel("Type 1 to confirm").fill("1");
    await page.getByRole("button", { name: "Discard 1" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.ok(server.requests.some((one) => one.method === "DELETE" && one.path.endsWith("/dead-letters/7/18241507")));
  });
});

test("axe_finds_nothing_serious", async (context) => {
  const paths = [["why", `${group}/processors?p=11`], ["why", `${group}/processors?view=table`], ["thousand", large], ["why", "/ui/"],
    ["why", "/ui/hubs/homes/events?open=11/18289733"], ["why", "/ui/hubs/homes/send"], ["why", `${group}/lag`],
    ["why", `${group}/letters?open=7/18241507`], ["why", "/ui/keys"], ["why", "/ui/connections"], ["why", "/ui/hubs"], ["why", "/ui/hubs/homes/partitions"], ["closed", "/ui/keys"]];
  const found = [];
  for (const [state, path] of paths) await visit(context, state, path, async (page) => {
    await page.locator("h1").first().waitFor({ state: "attached" });
    await page.waitForTimeout(100);
    found.push(...await violations(page, path));
  });
  assert.deepEqual(found, []);
});

test("a_phone_gets_the_grid_by_owner", async (context) => {
  await visit(context, "why", `${group}/processors`, async (page) => {
    await head(page, "2 partitions need you.");
    await page.getByRole("button", { name: /Partition 11: .* stalled/ }).waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await page.getByRole("navigation", { name: "Main pages" }).getByText("Events").click();
    await page.waitForURL((url) => url.pathname.endsWith("/events"));
  }, { size: { width: 390, height: 844 } });
});

test("the_first_paint_comes_within_300_ms", async (context) => {
  const times = [];
  // The quickest of several: another program on this machine may have made a turn slow.
  for (let turn = 0; turn < 12 && !(Math.min(...times) <= 300); ++turn) await visit(context, "balanced", `${group}/processors`, async (page) => {
    await head(page, "On an even keel.");
    times.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity));
  });
  console.log(`    ${Math.min(...times).toFixed(0)} ms`);
  assert.ok(Math.min(...times) <= 300, times.join(", "));
});

await main("DashboardPages", {
  before: async () => ({ browser: await browser() }),
  after: async (context) => { await context.browser.close(); },
});
