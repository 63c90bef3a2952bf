// Draws the dashboard's states, and those of the residents' page, into the folder that the argument names: fixed clock, no
// animation, made-up figures.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { browser, open } from './support/browser.mjs';
import { moment } from './support/groups.mjs';
import { residents } from './support/residents.mjs';
import { stand_in } from './support/stand_in.mjs';

const group = '/ui/hubs/homes/groups/aggregator', large = '/ui/hubs/telemetry/groups/indexer/processors';
const string = 'Endpoint=sb://localhost/;SharedAccessKeyName=operators;SharedAccessKey=••••••••••••••••';

// Name of the picture, state of the stand-in, address, and what is done before it is taken.
const pictures = [
    ['processors-balanced', 'balanced', `${group}/processors`],
    ['processors-takeover', 'takeover', `${group}/processors`],
    ['processors-handover', 'leaving', `${group}/processors`, arrive],
    ['processors-why', 'why', `${group}/processors?p=11`],
    ['processors-1000', 'thousand', large],
    ['processors-table', 'why', `${group}/processors?view=table`],
    ['overview', 'why', '/ui/'],
    ['events', 'why', '/ui/hubs/homes/events?open=11/18289733&where=body.kind+!%3D+%22heartbeat%22'],
    ['connections', 'why', '/ui/connections'],
    ['partitions', 'why', '/ui/hubs/homes/partitions'],
    ['lag', 'parked', `${group}/lag`],
    ['dead-letters', 'why', `${group}/letters?cause=unknown%20sensor%20type%20co&open=7/18241507`, choose],
    ['state-empty', 'empty', '/ui/'],
    ['state-error', 'failed', `${group}/processors`],
    ['state-offline', 'balanced', `${group}/processors`, leave],
    ['state-signin', 'closed', '/ui/sign-in', sign],
];
const light = ['processors-balanced', 'processors-takeover', 'processors-handover', 'processors-why', 'processors-1000', 'overview', 'events', 'lag', 'dead-letters', 'state-signin'];

async function arrive(page, server) {
    await page.evaluate(() => { window.frozen_at += 400; });
    server.event('owner', { topic: 'group:homes/aggregator', p: 0, owner: 'agg-e5a0', epoch: 15, owned_since: new Date(moment).toISOString(), phase: 'owned', next: null });
    await page.locator("tr[data-partition='0'] .note", { hasText: 'D reads' }).waitFor();
    await page.evaluate(() => { window.frozen_at += 750; });  // the cable has come to its port
    await page.waitForTimeout(300);
}

async function sign(page) {
    await page.getByLabel('Connection string or key').fill(string);
    await page.getByText('operators, reads').waitFor();
}

async function choose(page) {
    await page.getByLabel('Select 7/18241507').check();
    await page.getByLabel('Select 2/18199120').check();
}

async function leave(page, server) {
    server.away = true;
    server.drop();
    await page.evaluate(() => { window.frozen_at += 3200; });
    await page.getByText('No answer from the server').waitFor();
}

const folder = process.argv[2], chosen = process.argv[3];
await mkdir(folder, { recursive: true });
const chromium = await browser({ reducedMotion: 'no-preference' });
let failed = 0;

async function draw(name, state, path, prepare, theme, size) {
    if (chosen && !name.includes(chosen)) return;
    const server = await stand_in(process.env.DASHBOARD, state);
    const { page, problems } = await open(chromium.context, 'about:blank', { theme, frozen: true });
    await page.setViewportSize(size);
    await page.goto(server.address + path);
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.waitForTimeout(500);  // whatever else is asked for has come
    if (prepare) await prepare(page, server);
    await page.evaluate(() => { for (const foot of document.querySelectorAll('.foot bdi')) foot.textContent = 'localhost:8080'; });
    const file = join(folder, `${name}.png`);
    await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
    if (problems.length) { console.error(`${name}: ${problems.join('; ')}`); ++failed; }
    await page.close();
    await server.close();
}

// The page of residents: its clock is that of what it is answered.
async function draw_home(name, state, theme, size) {
    if (chosen && !name.includes(chosen)) return;
    const server = await residents(state);
    const { page, problems } = await open(chromium.context, 'about:blank');
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size);
    await page.goto(`${server.address}/home/48213`);
    await page.locator('#ring text').first().waitFor();
    await page.screenshot({ path: join(folder, `${name}.png`), animations: 'disabled', caret: 'hide' });
    if (problems.length) { console.error(`${name}: ${problems.join('; ')}`); ++failed; }
    await page.close();
    await server.close();
}

const wide = { width: 1440, height: 900 };
for (const [name, state, path, prepare] of pictures) await draw(name, state, path, prepare, 'dark', wide);
for (const [name, state, path, prepare] of pictures.filter(([name]) => light.includes(name))) await draw(`light-${name}`, state, path, prepare, 'light', { width: 1280, height: 800 });
await draw('processors-phone', 'why', `${group}/processors`, undefined, 'dark', { width: 390, height: 844 });
const phone = { width: 390, height: 844 }, desktop = { width: 1280, height: 800 };
await draw_home('home-phone', 'quiet', 'light', phone);
await draw_home('home-phone-dark', 'quiet', 'dark', phone);
await draw_home('home-phone-incident', 'incident', 'light', phone);
await draw_home('home-phone-no-news', 'no-news', 'light', phone);
await draw_home('home-desktop', 'quiet', 'light', desktop);
await draw_home('home-desktop-incident-dark', 'incident', 'dark', desktop);
await chromium.close();
process.exit(failed ? 1 : 0);
