// Writes index.html, icon-HASH.svg, app-HASH.js, app-HASH.css and manifest.json into the folder that the argument names.
import { build } from 'esbuild';
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { basename, join } from 'node:path';

const out = process.argv[2];
const bytesMax = 150_000;  // gzipped, of everything that a browser loads

const result = await build({
    entryPoints: { app: 'src/main.tsx' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    outdir: out,
    metafile: true,
    write: false,
    logLevel: 'warning',
});

// What an earlier build left must not be embedded beside the new files.
for (const name of await readdir(out))
    if (/^(app-[A-Z0-9]+\.(js|css)|icon-[0-9a-f]+\.svg)$/.test(name)) await rm(join(out, name));

const icon = await readFile('src/icon.svg');
const icon_name = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
const names = result.outputFiles.map(file => basename(file.path));
const page = (await readFile('src/index.html', 'utf8'))
    .replace('app.js', names.find(name => name.endsWith('.js')))
    .replace('icon.svg', icon_name)
    .replace('app.css', names.find(name => name.endsWith('.css')));
const files = [
    { name: 'index.html', contents: Buffer.from(page) },
    { name: icon_name, contents: icon },
    ...result.outputFiles.map(file => ({ name: basename(file.path), contents: Buffer.from(file.contents) })),
];
const bytes = files.reduce((sum, file) => sum + gzipSync(file.contents).length, 0);
if (bytes > bytesMax) throw new Error(`the page has ${bytes} bytes gzipped; at most ${bytesMax} are allowed`);
for (const file of files) await writeFile(join(out, file.name), file.contents);
await writeFile(join(out, 'manifest.json'), JSON.stringify({ files: files.map(file => file.name) }) + '\n');
console.log(`dashboard: ${files.length} files, ${bytes} bytes gzipped`);
