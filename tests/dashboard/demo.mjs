// The demo of ./run, played by clicks on the dashboard: an aggregator joins, one is killed, the new sensor is switched on;
// and the verdict at the end, on the aggregates of every home. Policy violations and script errors fail every test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithUs } from "../interop/hub.mjs";
import { main, test } from "../interop/js/harness.mjs";
import { browser, open } from "./support/browser.mjs";

const group = "/ui/hubs/homes/groups/aggregator/processors";
const head = (page, words, timeout = 30000) => page.getByRole("heading", { level: 1, name: words }).waitFor({ timeout });
const press = (page, name) => page.getByRole("group", { name: "Demo" }).getByRole("button", { name }).click();

async function visit({ demo, browser: chromium }, body) {
  const { page, problems } = await open(chromium.context, `${demo.address}${group}`);
  try {
    await body(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
}
async function processors({ demo }) {
  return (await fetch(`${demo.address}/api/v1/hubs/homes/groups/aggregator/processors`)).json();
}
const post = ({ demo }, body, headers = {}) => fetch(`${demo.address}/api/v1/demo`, { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(body) });

test("the_bar_has_every_move_in_the_accent_colour", (context) => visit(context, async (page) => {
  await head(page, "On an even keel.");
  const bar = page.getByRole("group", { name: "Demo" });
  assert.deepEqual(await bar.getByRole("button").allTextContents(), ["Add an aggregator", "Stop one", "Kill -9 one", "Pause, resume", "Switch the carbon-monoxide sensor on"]);
  const [button, link] = await page.evaluate(() => [".demo .btn", ".demo"].map((one) => getComputedStyle(document.querySelector(one)).color));
  assert.equal(button, link);
}));

test("one_more_gets_its_share_by_hand_overs", (context) => visit(context, async (page) => {
  await head(page, "On an even keel.");
  await press(page, "Add an aggregator");
  await head(page, /-c joined|on their way/);
  await page.locator(".block", { hasText: /-c/ }).getByText(/[56] partitions/).waitFor({ timeout: 30000 });
  await page.getByText(/handed over/).first().waitFor();
}));

test("a_killed_one_is_silent_then_taken_over", (context) => visit(context, async (page) => {
  await head(page, /even keel|joined/);
  await press(page, "Kill -9 one");
  await head(page, /is silent/);
  const id = await page.locator(".block.silent .id, .block.silent bdi").first().textContent();
  await page.locator(".block.silent").waitFor({ state: "detached", timeout: 40000 });
  const { partitions } = await processors(context);
  assert.ok(partitions.every((one) => one.owner && one.owner !== id), JSON.stringify(partitions.map((one) => one.owner)));
}));

test("the_new_sensor_makes_the_load_grow", (context) => visit(context, async (page) => {
  const rate = async () => (await (await fetch(`${context.demo.address}/api/v1/overview`)).json()).in_per_s;
  const before = await rate();
  await press(page, "Switch the carbon-monoxide sensor on");
  await page.getByRole("status").getByText("Asked.").waitFor();
  for (const end = Date.now() + 40000; await rate() < 1.25 * before;) {
    assert.ok(Date.now() < end, `${before}/s before, ${await rate()}/s now`);
    await page.waitForTimeout(250);
  }
  await press(page, "Switch the carbon-monoxide sensor on");
  await page.getByText("the sensor is on already").waitFor();
}));

test("pause_holds_the_group_and_resume_lets_it_go_on", (context) => visit(context, async (page) => {
  await press(page, "Pause, resume");
  await head(page, /paused/);
  await press(page, "Pause, resume");
  await head(page, /even keel|share/);
}));

test("the_last_one_stays", (context) => visit(context, async (page) => {
  await press(page, "Stop one");
  await page.locator(".block").nth(1).waitFor({ state: "detached", timeout: 30000 });
  await press(page, "Kill -9 one");
  await page.getByText("one aggregator must stay; add another first").waitFor();
}));

test("other_sites_and_unknown_actions_are_refused", async (context) => {
  assert.equal((await post(context, { action: "kill" }, { Origin: "http://evil.example" })).status, 403);
  assert.equal((await post(context, { action: "rm" })).status, 400);
  const plain = await fetch(`${context.demo.address}/api/v1/demo`, { method: "POST", headers: { "Content-Type": "text/plain" }, body: '{"action":"add"}' });
  assert.equal(plain.status, 415);
  assert.equal((await processors(context)).members.length, 1);
});

test("every_aggregate_is_right_at_the_end", async ({ demo }) => {
  demo.child.kill("SIGINT");
  assert.equal(await demo.ended, 130);
  const verdict = JSON.parse(readFileSync(join(demo.folder, "verdict.json"), "utf8"));
  for (const field of ["aggregates_wrong", "lost", "out_of_order", "past_fence", "repeated_at_handover"]) assert.equal(verdict[field], 0, field);
  assert.equal(verdict.homes, 2000);
  assert.ok(verdict.aggregates_checked > 0 && verdict.handovers > 0 && verdict.failover_seconds > 0, JSON.stringify(verdict));
});

await main("DashboardDemo", {
  before: async () => {
    const folder = mkdtempSync(join(tmpdir(), "evenkeel-demo-"));
    const child = endWithUs(spawn(process.env.EVENKEEL, ["demo", "--programs", process.env.HOME_PROGRAMS, "--homes", "2000", "--json", join(folder, "verdict.json")], { stdio: ["ignore", "ignore", "pipe"] }));
    const demo = { child, folder, said: "", ended: new Promise((done) => child.once("exit", done)) };
    demo.address = await new Promise((found, failed) => {
      child.stderr.on("data", (bytes) => {
        demo.said += bytes;
        const address = /dashboard: +(http:\S+)\/ui\//.exec(demo.said);
        if (address) found(address[1]);
      });
      child.once("exit", (code) => failed(new Error(`the demo ended with ${code}: ${demo.said}`)));
    });
    return { demo, browser: await browser() };
  },
  after: async ({ demo, browser: chromium }) => {
    await chromium.close();
    demo.child.kill("SIGKILL");
    rmSync(demo.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  },
  timeoutSeconds: 120,
});
