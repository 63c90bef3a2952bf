// What a reader does on the dashboard, in Chromium against the stand-in: resend, edit, copy, save, resume, look again, choose,
// and every key. Policy violations and script errors fail every test.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { main, test } from "../interop/js/harness.mjs";
import { violations } from "./support/axe.mjs";
import { browser } from "./support/browser.mjs";
import { moment } from "./support/groups.mjs";
import { asked, copied, head, keep_copies, visit } from "./support/visit.mjs";

const group = "/ui/hubs/homes/groups/aggregator";
const one_event = "/ui/hubs/homes/events?open=11/18289733";

test("a_dead_letter_is_resent", (context) => visit(context, "why", `${group}/letters?open=7/18241507`, async (page, server) => {
  await page.getByRole("complementary").getByRole("button", { name: "Resend…", exact: true }).click();
  await page.getByRole("dialog", { name: "Resend 1 letter" }).getByText(/goes to the end of the hub with the same key/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Resend 1" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(asked(server, "POST", "/groups/aggregator/dead-letters/7/18241507/resend"), { remove: true });
  await page.waitForURL((url) => !url.searchParams.has("open"));  // its letter is gone
}));

test("several_dead_letters_are_resent_in_order", (context) => visit(context, "why", `${group}/letters`, async (page, server) => {
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Resend 3…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resend 3" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(server.requests.filter((one) => one.path.endsWith("/resend")).map((one) => one.path.split("/").slice(-3, -1).join("/")), ["7/18241507", "2/18199120", "13/18190442"]);
}));

test("a_dead_letter_is_edited_then_resent", (context) => visit(context, "why", `${group}/letters?open=7/18241507`, async (page, server) => {
  await page.getByRole("button", { name: "Edit, then resend…" }).click();
  const body = page.getByRole("dialog").getByLabel("Body");
  assert.equal(JSON.parse(await body.inputValue()).kind, "co");
  await body.fill('{"kind":"carbon monoxide"}');
  await page.getByRole("dialog").getByRole("button", { name: "Resend 1" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  assert.deepEqual(asked(server, "POST", "/dead-letters/7/18241507/resend"), { remove: true, body: '{"kind":"carbon monoxide"}' });
}));

test("a_letter_that_is_refused_says_which_are_done", (context) => visit(context, "refused", `${group}/letters`, async (page) => {
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Resend 3…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resend 3" }).click();
  await page.getByRole("alert").getByText("1 letter done, then: The quota of this key is used up.").waitFor();
}));

// What a shell would run, as its arguments.
const words = (command) => execFileSync("sh", ["-c", `program() { for word in "$@"; do printf '%s\\0' "$word"; done; }; ${command.replace(/^\w+/, "program")}`], { encoding: "utf8" }).split("\0").slice(0, -1);

test("an_event_is_copied_as_data", async (context) => {
  const copy = async (page, name) => {
    await page.getByRole("button", { name: "Copy as…" }).click();
    await page.getByRole("button", { name, exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const text = await copied(page);
    await page.getByRole("button", { name: "Copy as…" }).click();
    return text;
  };
  await visit(context, "options", one_event, async (page) => {
    await page.getByText("Where it is").waitFor();
    await keep_copies(page);
    assert.deepEqual(words(await copy(page, "CLI")), ["send", "--key=--count=1000", "--", "homes", "--file=/etc/passwd"]);
    assert.deepEqual(JSON.parse(words(await copy(page, "curl")).at(-1)).events[0].body, "--file=/etc/passwd");
    assert.equal(await copy(page, "C++"), 'producer->send("--file=/etc/passwd", {.partition_key = "--count=1000"}).value();');
    assert.equal(await copy(page, "Python"), 'producer.send_batch([EventData("--file=/etc/passwd")], partition_key="--count=1000")');
  });
  await visit(context, "cut", one_event, async (page) => {
    await page.getByText(/^The first 64 KB of/).waitFor();
    assert.ok(await page.getByRole("button", { name: "Copy as…" }).isDisabled());
  });
});

test("an_event_is_resent_as_it_is", (context) => visit(context, "cut", one_event, async (page, server) => {
  await page.getByRole("button", { name: "Resend…" }).click();
  await page.getByRole("dialog").getByLabel("To").selectOption("telemetry");
  await page.getByRole("dialog").getByRole("button", { name: "Resend" }).click();
  await page.getByText("It is now 18,338,221 of partition 11.").waitFor();
  assert.deepEqual(asked(server, "POST", "/hubs/telemetry/events"), { copy_of: { hub: "homes", partition: 11, sequence_number: 18289733 } });
}));

test("a_live_tail_asks_only_for_what_is_new", (context) => visit(context, "why", "/ui/hubs/homes/events?tail=1&where=body.kind+%3D%3D+%22door%22", async (page, server) => {
  await page.getByRole("row").nth(1).waitFor();
  const next = await page.waitForRequest((one) => one.url().includes("since="));
  assert.equal(new URL(next.url()).searchParams.get("since"), "0.18204331,11.18289734");
  const tail = server.requests.filter((one) => one.path.includes("/events?") && one.path.includes("from=newest"));
  assert.equal(tail.filter((one) => !one.path.includes("since=")).length, 2, "the page, and the first look of the tail");
}));

test("partitions_are_chosen_by_buttons_or_as_text", (context) => visit(context, "why", "/ui/hubs/homes/events", async (page, server) => {
  const picker = page.getByRole("button", { name: /^Partitions:/ }), last = () => new URLSearchParams(server.requests.findLast((one) => one.path.includes("/events?")).path.split("?")[1]).get("p");
  await page.getByRole("row").nth(1).waitFor();
  await picker.click();
  await page.getByRole("button", { name: "11", exact: true }).click();
  await page.getByRole("button", { name: "03", exact: true }).click();
  await page.getByRole("button", { name: "Partitions: 03, 11" }).waitFor();
  await page.waitForURL((url) => url.searchParams.get("p") === "3,11");
  assert.equal(await page.getByRole("button", { name: "03", exact: true }).getAttribute("aria-pressed"), "true");
  await page.getByLabel("Numbers of partitions").fill(" 1, 2,4 ,5");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Partitions: 4 of 16" }).waitFor();
  await page.getByRole("button", { name: "All", exact: true }).click();
  await page.getByRole("button", { name: "Partitions: all 16" }).waitFor();
  await page.waitForFunction(() => !location.search.includes("p="));
  await page.keyboard.press("Escape");
  await page.getByLabel("Numbers of partitions").waitFor({ state: "detached" });
  assert.equal(last(), null);
}));

test("an_event_is_saved", (context) => visit(context, "why", one_event, async (page) => {
  await page.getByText("Where it is").waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("complementary").getByRole("button", { name: "Save" }).click()]);
  assert.equal(file.suggestedFilename(), "11-18289733.json");
  const saved = JSON.parse(readFileSync(await file.path(), "utf8"));
  assert.equal(saved.seq, 18289733);
  assert.equal(JSON.parse(saved.body.value).kind, "glass");
}));

test("a_test_event_is_sent_at_the_first_start", (context) => visit(context, "empty", "/ui/", async (page, server) => {
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("Sent. It is the first one.").waitFor();
  assert.equal(asked(server, "POST", "/hubs/homes/events").events[0].partition_key, "home-1");
  for (const [language, text] of [["C++", "evenkeel::Producer::open"], ["Python", "send_batch"], [".NET", "SendAsync"], ["Shell", "evenkeel send homes"]]) {
    await page.getByRole("button", { name: language, exact: true }).click();
    await page.getByText(text).waitFor();
  }
}));

test("a_parked_partition_is_resumed", (context) => visit(context, "why", `${group}/processors?p=5`, async (page, server) => {
  await page.getByRole("complementary").getByRole("button", { name: "Resume…" }).click();
  await page.getByRole("dialog", { name: "Resume partition 05" }).getByText(/goes on at its checkpoint/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: /Asked .* ago/ }).waitFor();
  assert.deepEqual(asked(server, "POST", "/requests"), { action: "resume", partitions: [5] });
  server.event("state", { topic: "group:homes/aggregator", p: 5, state: "ok", since: null, cause: null });
  await page.getByRole("dialog").waitFor({ state: "detached" });  // done, it says, and closes
}));

test("a_store_that_failed_is_looked_into_again", (context) => visit(context, "failed", `${group}/processors`, async (page, server) => {
  await head(page, "The store of this group cannot be opened.");
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("Asked.").waitFor();
  assert.deepEqual(asked(server, "POST", "/hubs/homes/groups/aggregator/requests"), { action: "look" });
}));

test("the_grid_is_ordered_by_owner_or_by_number", (context) => visit(context, "why", `${group}/processors?view=grid`, async (page) => {
  await page.getByRole("button", { name: "By number" }).click();
  await page.waitForURL((url) => url.searchParams.get("order") === "number");
  assert.equal(await page.getByRole("button", { name: "By number" }).getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "By owner" }).click();
  await page.waitForURL((url) => url.searchParams.get("order") === "owner");
}));

test("the_lag_is_shown_for_an_hour_or_a_day", (context) => visit(context, "parked", `${group}/lag`, async (page, server) => {
  const ranges = () => server.requests.filter((one) => one.path.includes("/lag?")).map((one) => one.path.split("range=")[1]);
  await page.locator(".chart canvas").waitFor();
  assert.deepEqual(ranges(), ["24h"]);
  const next = page.waitForResponse((one) => one.url().includes("range=1h"));
  await page.getByRole("button", { name: "1 h", exact: true }).click();
  await next;
  await page.waitForURL((url) => url.searchParams.get("range") === "1h");
  await page.locator(".chart canvas").waitFor();
  assert.deepEqual(ranges(), ["24h", "1h"]);
}));

test("a_tick_does_not_draw_charts_again", (context) => visit(context, "parked", `${group}/lag`, async (page, server) => {
  await page.locator(".chart canvas").waitFor();
  await page.evaluate(() => {
    window.made = 0;
    new MutationObserver((changes) => { window.made += changes.filter((one) => one.addedNodes.length).length; }).observe(document.querySelector(".chart"), { childList: true });
    const fill = CanvasRenderingContext2D.prototype.fillRect;
    window.cells = 0;
    CanvasRenderingContext2D.prototype.fillRect = function (...box) { ++window.cells; return fill.apply(this, box); };
  });
  const ticks = 8;
  for (let i = 0; i < ticks; ++i) {
    server.event("tick", { topic: "group:homes/aggregator", at: new Date(moment + i).toISOString(), p: [0], in: [1], end: [i], cp: [i], behind_ms: [i], lag: [1], loss_s: [80_000], stored_ms: [1] });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  // Ten seconds may end meanwhile, once.
  const { made, cells } = await page.evaluate(() => ({ made: window.made, cells: window.cells }));
  assert.ok(made <= 1, `${made} charts in ${ticks} ticks`);
  assert.ok(cells <= 16 * 96 * 2, `${cells} cells in ${ticks} ticks`);
}));

test("a_group_without_a_checkpoint_is_not_0_s_behind", async (context) => {
  for (const path of ["/ui/", "/ui/hubs"]) await visit(context, "unknown", path, async (page) => {
    const row = page.getByRole("row", { name: /^homes 16/ });
    await row.getByRole("cell", { name: "–", exact: true }).waitFor();
    assert.ok(!(await row.innerText()).includes("0.0 s"));
  });
});

test("a_key_of_one_hub_has_its_pages", async (context) => {
  const own = "Endpoint=sb://127.0.0.1:5673;SharedAccessKeyName=of homes;SharedAccessKey=shown-key;EntityPath=homes;UseDevelopmentEmulator=true;";
  await visit(context, "one_hub", "/ui/keys", async (page, server) => {
    await head(page, "2 keys, 1 may manage.");
    await keep_copies(page);
    await page.getByRole("row", { name: "of homes" }).getByRole("button", { name: "Copy connection string" }).click();
    await page.getByText("Copied").waitFor();
    assert.equal(await copied(page), own);
    await page.getByRole("button", { name: "New key…" }).click();
    assert.deepEqual(await page.getByLabel("For").locator("option").allTextContents(), ["homes"]);
    await page.getByLabel("Name").fill("reader");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("dialog", { name: "The key is made" }).waitFor();
    assert.deepEqual(asked(server, "POST", "/hubs/homes/keys"), { name: "reader", rights: ["Listen"] });
  });
  await visit(context, "one_hub", "/ui/connections", async (page, server) => {
    await head(page, "2 connections, 1 reads.");
    assert.ok(server.requests.some((one) => one.path.startsWith("/api/v1/hubs/homes/connections")));
  });
  await visit(context, "one_hub", "/ui/", async (page) => {
    await page.getByRole("link", { name: "homes / aggregator" }).first().waitFor();
    await keep_copies(page);
    await page.getByRole("button", { name: "Copy connection string" }).click();
    await page.getByText("Copied").waitFor();
    assert.equal(await copied(page), own);
  });
  await visit(context, "one_hub", "/ui/hubs", async (page) => {
    await head(page, /hubs?, /);
    assert.equal(await page.getByRole("button", { name: "New hub…" }).count(), 0);
  });
});

test("keys_go_through_groups_copy_the_address_and_change_the_theme", (context) => visit(context, "two_groups", `${group}/lag`, async (page, server) => {
  await page.locator(".chart canvas").waitFor();
  await page.locator(".rights", { hasText: "Listen" }).waitFor();  // the groups have come with it
  await keep_copies(page);
  await page.locator("main").focus();
  await page.keyboard.press("]");
  await page.waitForURL((url) => url.pathname === "/ui/hubs/homes/groups/alarms/lag");
  await page.getByRole("button", { name: "Group: alarms" }).waitFor();
  await page.keyboard.press("[");
  await page.waitForURL((url) => url.pathname === `${group}/lag`);
  await page.keyboard.press("y");
  await page.waitForFunction(() => window.copied);
  assert.equal(await copied(page), `${server.address}${group}/lag`);
  const themes = [];
  for (let i = 0; i < 3; ++i) {
    await page.keyboard.press("t");
    themes.push(await page.evaluate(() => [localStorage.getItem("evenkeel.theme"), document.documentElement.dataset.theme].join(" ")));
  }
  assert.deepEqual(themes.map((one) => one.replace(/^system .*/, "system")), ["light light", "system", "dark dark"]);  // it was dark
}));

// What stands beside the pages: states without content, a phone, and every form.
test("axe_finds_nothing_serious_in_states_and_forms", async (context) => {
  const found = [], press = (name, exact = false) => (page) => page.getByRole("button", { name, exact }).first().click();
  const phone = { size: { width: 390, height: 844 } }, letter = `${group}/letters?open=7/18241507`, eleven = `${group}/processors?p=11`;
  const offline = async (page, server) => { await head(page, "On an even keel."); server.away = true; server.drop(); await page.getByRole("heading", { name: /No answer from the server/ }).waitFor({ timeout: 12000 }); };
  const views = [["empty", "/ui/"], ["failed", `${group}/processors`], ["nobody", `${group}/processors`], ["balanced", "/ui/hubs/homes/groups/other/lag"], ["balanced", "/ui/nonsense"],
    ["balanced", `${group}/processors`, offline], ["why", `${group}/processors`, undefined, phone], ["why", "/ui/", undefined, phone], ["why", letter, undefined, phone],
    ["takeover", `${group}/processors`], ["handover", `${group}/processors`], ["why", `${group}/processors?view=grid&order=number`],
    ["why", eleven, press("Pause…")], ["why", eleven, press(/^Drain/)], ["why", eleven, press("Seek…")], ["why", one_event, press("Resend…")], ["why", one_event, press("Copy as…")], ["why", "/ui/hubs/homes/events?p=3", press(/^Partitions:/)],
    ["why", letter, (page) => page.getByRole("complementary").getByRole("button", { name: "Resend…", exact: true }).click()], ["why", letter, press("Edit, then resend…")], ["why", letter, async (page) => { await page.getByLabel("Select all").check(); await press("Discard…")(page); }],
    ["why", "/ui/hubs", press("New hub…")], ["why", "/ui/keys", press("New key…")], ["why", "/ui/keys", press("Rotate…")], ["why", "/ui/keys", press("Remove…")],
    ["why", "/ui/", (page) => page.keyboard.press("/")], ["why", "/ui/", (page) => page.keyboard.press("?")]];
  for (const [state, path, act, options] of views) await visit(context, state, path, async (page, server) => {
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.locator(".rights", { hasText: "Listen" }).waitFor({ state: "attached" });
    await act?.(page, server);
    found.push(...await violations(page, `${state} ${path} ${act ? String(act).slice(0, 60) : ""}`));
  }, options);
  assert.deepEqual(found, []);
});

await main("DashboardActions", {
  before: async () => ({ browser: await browser() }),
  after: async (context) => { await context.browser.close(); },
  timeoutSeconds: 180,
});
