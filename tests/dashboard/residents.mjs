// The residents' page of examples/home-security in Chromium, on a phone and on a desktop, light and dark: all that it can
// say about a home, hostile input, accessibility; and the program itself with aggregates that come, break and stay away.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithUs } from "../interop/hub.mjs";
import { main, test } from "../interop/js/harness.mjs";
import { browser, open } from "./support/browser.mjs";
import { residents, states, write_aggregate } from "./support/residents.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const phone = { width: 390, height: 844 }, desktop = { width: 1280, height: 800 };

async function look(context, address, body, { size = phone, theme = "light" } = {}) {
  const { page, problems } = await open(context.browser.context, "about:blank");
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(size);
  await page.goto(address);
  try {
    await body(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
}
async function visit(context, state, path, body, options) {
  const server = await residents(state);
  try {
    await look(context, server.address + path, (page) => body(page, server), options);
  } finally {
    await server.close();
  }
}
const ring = (page, words) => page.getByRole("img", { name: words }).waitFor();

test("each_state_says_its_words", async (context) => {
  for (const [state, words] of [["quiet", "All quiet, since 14:02"], ["someone", /^Someone is up, hall, 15:09/], ["incident", "Glass broke, terrace door, 15:08"],
    ["bad-air", "Bad air, boiler room, 15:09"], ["no-news", "No news, since 14:20"], ["no-news-yet", "No news, yet"]])
    await visit(context, state, "/home/48213", (page) => ring(page, words));
});

test("a_quiet_day_is_summed_up", (context) => visit(context, "quiet", "/home/48213", async (page) => {
  await page.getByText("Everyone was up by 6:50. The front door opened 6 times today, last at 14:02.").waitFor();
  assert.deepEqual(await page.locator("#happenings .happening").allTextContents(), ["14:01Front door opened and closed", "13:48Motion, living room",
    "12:07Kitchen window was open for 20 min", "08:16Front door closed", "07:31Back door opened and closed"]);
}));

test("an_incident_is_told_in_order_with_seconds", (context) => visit(context, "incident", "/home/48213", async (page) => {
  const alert = page.getByRole("alert");
  await alert.getByText("Not you? Call your emergency number.").waitFor();
  assert.deepEqual(await alert.getByRole("listitem").allTextContents(),
    ["15:08:08Glass broke, terrace door", "15:08:11Motion, living room", "15:08:40Back door opened"]);
  assert.equal(await page.locator(".sensor .place").first().textContent(), "Terrace door");
}));

test("an_incident_in_old_aggregates_is_not_up_to_date", (context) => visit(context, "incident-no-news", "/home/48213", async (page) => {
  await ring(page, "Glass broke, terrace door, 15:08");
  assert.equal(await page.locator("#fresh").textContent(), "The last news is of 15:09:01.");
  assert.ok(await page.evaluate(() => document.body.classList.contains("old")));
  const colour = (name) => page.evaluate((query) => getComputedStyle(document.querySelector(query)).fill, name);
  assert.equal(await colour("#ring .big"), await colour("#ring .f-clay"), "the words are not red");
}));

test("old_aggregates_are_never_all_quiet", (context) => visit(context, "quiet", "/home/48213", async (page, server) => {
  await ring(page, /^All quiet/);
  server.state = "no-news";
  await ring(page, "No news, since 14:20");
  assert.ok(await page.evaluate(() => document.body.classList.contains("old")));
  server.state = "quiet";
  await ring(page, /^All quiet/);
}));

test("a_server_that_is_away_is_said_and_comes_back", (context) => visit(context, "quiet", "/home/48213", async (page, server) => {
  await ring(page, /^All quiet/);
  server.away = true;
  await page.getByText(/^No answer since/).waitFor();
  server.away = false;
  await page.getByText(/^Up to date/).waitFor();
}));

test("aggregates_that_cannot_be_read_are_said", (context) => visit(context, "broken", "/home/7", (page) => page.getByText("No answer from the server. Trying again.").waitFor()));

test("unknown_and_hostile_numbers_stay_text", async (context) => {
  for (const [path, words] of [["123456", "There is no home 123,456. Numbers go from 0 to 99,999."], ["100,000", "There is no home 100,000. Numbers go from 0 to 99,999."],
    ["-1", "There is no home “-1”. Numbers go from 0 to 99,999."], ["%3Cimg%20src%3Dx%3E", "There is no home “<img src=x>”. Numbers go from 0 to 99,999."],
    ["..%2F..%2Fetc", /There is no home “\.\.\/\.\.\/etc”/], ["9".repeat(300), /There is no home/], ["%E0%A4%A", /There is no home/]])
    await visit(context, "quiet", `/home/${path}`, async (page) => {
      await page.getByRole("status").getByText(words).waitFor();
      assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it scrolls sideways");
    });
});

test("hostile_names_from_the_server_stay_text", (context) => visit(context, "hostile", "/home/7", async (page) => {
  await page.getByText("<img src=x onerror=alert(1)>").first().waitFor();
  assert.equal(await page.evaluate(() => document.querySelectorAll("main img, main script").length), 0);
}));

test("a_home_is_found_by_its_number", (context) => visit(context, "quiet", "/", async (page) => {
  await page.getByText("Which home is yours?").waitFor();
  await page.getByLabel("Find a home by number").fill("48,213");
  await page.keyboard.press("Enter");
  await ring(page, /^All quiet/);
  assert.equal(new URL(page.url()).pathname, "/home/48213");
  assert.equal(await page.title(), "Home 48,213");
}));

test("every_state_fits_and_has_no_serious_finding", async (context) => {
  for (const size of [phone, desktop]) for (const theme of ["light", "dark"]) for (const state of Object.keys(states))
    await visit(context, state, "/home/48213", async (page) => {
      await page.locator("#ring text, #problem:not([hidden])").first().waitFor();
      const name = `${state}, ${theme}, ${size.width}`;
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: it scrolls sideways`);
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const serious = found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes[0].html}`);
      assert.deepEqual(serious, [], name);
      const small = await page.evaluate(() => [...document.querySelectorAll("button, a, form")].filter((one) => one.offsetHeight < 44).length);
      assert.equal(small, 0, `${name}: a target is lower than 44 pixels`);
    }, { size, theme });
});

// The program with its own clock: what it shows follows the aggregates.
test("the_program_shows_what_aggregates_say", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-residents-"));
  const child = endWithUs(spawn(join(process.env.HOME_PROGRAMS, "page"), ["--aggregates", folder, "--homes", "100", "--partitions", "1", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] }));
  try {
    const address = await new Promise((found, failed) => {
      child.stdout.on("data", (bytes) => found(/http:\S+/.exec(bytes)[0]));
      child.once("exit", (code) => failed(new Error(`the page ended with ${code}`)));
    });
    const now = () => Math.floor(Date.now() / 1000) * 1000;
    await look(context, address.replace(/0$/, "42"), async (page) => {
      await ring(page, "No news, yet");
      write_aggregate(folder, 42, now() - 1000, { "Front door": [1, 0, "closed", now()], "Hall": [1, 0, "still", now()] });
      await ring(page, /^All quiet/);
      write_aggregate(folder, 42, now(), { "Terrace door": [1, 1, "broken", now()] }, [["Terrace door", "broken", now()]], 1);
      await ring(page, /^Glass broke, terrace door/);
      await page.getByRole("alert").getByText("Glass broke, terrace door").waitFor();
    });
    // Nobody has written for a minute.
    rmSync(folder, { recursive: true });
    write_aggregate(folder, 43, now() - 60_000, { "Hall": [1, 0, "still", now() - 60_000] }, [], 2);
    await look(context, address.replace(/0$/, "43"), (page) => ring(page, /^No news, since/));
    await look(context, address.replace(/0$/, "100"), (page) => page.getByText("There is no home 100. Numbers go from 0 to 99.").waitFor());
  } finally {
    child.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
});

await main("ResidentsPage", {
  before: async () => ({ browser: await browser() }),
  after: async ({ browser: chromium }) => chromium.close(),
  timeoutSeconds: 120,
});
