// Bundles each src/**/*.test.ts for Node and runs them with Node's own test runner.
import { build } from 'esbuild';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const found = [];
for (const folder of ['src', 'src/api', 'src/model', 'src/pages/events', 'src/pages/letters', 'src/parts', 'src/picture'])
    for (const name of await readdir(folder))
        if (name.endsWith('.test.ts')) found.push(join(folder, name));
const out = await mkdtemp(join(tmpdir(), 'evenkeel-web-'));
await build({ entryPoints: found, bundle: true, platform: 'node', format: 'esm', outdir: out, outExtension: { '.js': '.mjs' }, logLevel: 'warning' });
const bundles = found.map(name => join(out, name.replace(/^src\//, '').replace(/\.ts$/, '.mjs')));
const run = spawnSync(process.execPath, ['--test', ...process.argv.slice(2), ...bundles], { stdio: 'inherit' });
await rm(out, { recursive: true });
process.exit(run.status ?? 1);
