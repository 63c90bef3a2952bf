// Debian's Chromium, driven by playwright-core.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

export const args = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

// A browser with an empty profile. `close` ends it and removes the profile.
export async function browser(options = {}) {
    const profile = await mkdtemp(join(tmpdir(), 'evenkeel-chromium-'));
    const context = await chromium.launchPersistentContext(profile, {
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args, viewport: { width: 1440, height: 900 }, timezoneId: 'UTC', locale: 'en-GB', ...options,
    });
    return { context, close: async () => { await context.close(); await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }); } };
}

// A page whose errors and policy violations are kept in `problems`. `frozen`: its clock stands still at `window.frozen_at`.
export async function open(context, address, { theme = 'dark', frozen = false } = {}) {
    const page = await context.newPage(), problems = [];
    page.on('pageerror', error => problems.push(`error: ${error.message}`));
    page.on('console', message => { if (/Content Security Policy|Refused to/.test(message.text())) problems.push(`policy: ${message.text()}`); });
    await page.addInitScript(chosen => {
        try { localStorage.setItem('evenkeel.theme', chosen); } catch { /* another origin */ }
        document.addEventListener('securitypolicyviolation', event => console.error(`Content Security Policy: ${event.violatedDirective} ${event.blockedURI}`));
    }, theme);
    if (frozen) await page.addInitScript(() => { window.frozen_at = 100_000; performance.now = () => window.frozen_at; });
    await page.goto(address);
    return { page, problems };
}
