// A page of a stand-in in Chromium, for the tests beside it. Policy violations and script errors fail them.
import assert from "node:assert/strict";
import { open } from "./browser.mjs";
import { stand_in } from "./stand_in.mjs";

// Opens `path` of a stand-in in `state`, runs `body`, and refuses what the browser complained about.
export async function visit(context, state, path, body, options = {}) {
  const server = await stand_in(process.env.DASHBOARD, state);
  const { page, problems } = await open(context.browser.context, server.address + path, options);
  if (options.size) await page.setViewportSize(options.size);
  try {
    await body(page, server);
    assert.deepEqual(problems, []);
    assert.deepEqual([...server.problems], []);  // what the page asks, and what it is answered here, is as docs/openapi.json says
  } finally {
    await page.close();
    await server.close();
  }
}

export const head = (page, words) => page.getByRole("heading", { level: 1, name: words }).waitFor({ timeout: 20000 });

// What the page copies goes to window.copied: Chromium without a window has no clipboard.
export const keep_copies = (page) => page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text; } } }));
export const copied = (page) => page.evaluate(() => window.copied);

// The body of the last request that has this method and end of its path.
export function asked(server, method, end) {
  const found = server.requests.findLast((one) => one.method === method && one.path.split("?")[0].endsWith(end));
  return found && JSON.parse(found.body || "{}");
}
