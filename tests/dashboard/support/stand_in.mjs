// A stand-in for the server: the page's files with the real content security policy, and made-up answers. Only for
// states that a real server cannot easily be put into; everything else is tested against the real program.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { answers } from './answers.mjs';
import { answer_problems, request_problems } from './contract.mjs';

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };
export const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Serves `folder` and the answers of `state` on a free port. `away` makes it drop every request; `event` sends to open feeds.
export async function stand_in(folder, state) {
    const feeds = new Set(), sockets = new Set();
    const self = { state, away: false, requests: [], problems: new Set(), address: '', event, close, hold };
    const holds = new Set();

    function event(name, data) {
        for (const feed of feeds) feed.write(`id: ${++count}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    }
    let count = 0;

    // Answers no request whose address (or body) has this text, until what it returns is called.
    function hold(text) {
        const one = { text, waiting: [] };
        holds.add(one);
        return () => { holds.delete(one); for (const go_on of one.waiting) go_on(); };
    }

    const server = createServer((request, answer) => void handle(request, answer).catch(error => {
        answer.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: { code: 'broken', message: String(error) } }));
    }));

    async function handle(request, answer) {
        if (self.away) return request.socket.destroy();
        const url = new URL(request.url, 'http://localhost');
        let body = '';
        for await (const part of request) body += part;
        self.requests.push({ method: request.method, path: url.pathname + url.search, body, authorization: request.headers.authorization });
        for (const one of holds) if (`${request.url} ${body}`.includes(one.text)) await new Promise(done => one.waiting.push(done));
        if (url.pathname.startsWith('/api/v1/')) for (const problem of request_problems(request.method, url, body)) self.problems.add(problem);
        if (url.pathname === '/api/v1/live') return live(url, answer);
        if (url.pathname.startsWith('/api/v1/')) {
            const [status, value] = answers(self.state, request.method, url, body, request.headers.authorization);
            for (const problem of answer_problems(request.method, url, status, value)) self.problems.add(problem);
            answer.writeHead(status, { 'Content-Type': 'application/json' });
            return answer.end(value === undefined ? '' : JSON.stringify(value));
        }
        return file(url, answer);
    }

    async function file(url, answer) {
        const name = extname(url.pathname) ? url.pathname.slice('/ui/'.length) : 'index.html';
        try {
            const contents = await readFile(join(folder, name));
            answer.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'application/octet-stream', 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' });
            answer.end(contents);
        } catch {
            answer.writeHead(404).end();
        }
    }

    function live(url, answer) {
        answer.writeHead(200, { 'Content-Type': 'text/event-stream' });
        feeds.add(answer);
        answer.on('close', () => feeds.delete(answer));
        for (const topic of (url.searchParams.get('topics') ?? '').split(',')) {
            const path = topic === 'overview' ? '/api/v1/overview' : topic.startsWith('group:') ? `/api/v1/hubs/${topic.slice(6).replace('/', '/groups/')}/processors` : null;
            if (!path) continue;
            const [status, value] = answers(self.state, 'GET', new URL(path, 'http://localhost'), '', undefined);
            if (status === 200) answer.write(`id: ${++count}\nevent: snapshot\ndata: ${JSON.stringify({ topic, ...value })}\n\n`);
        }
    }

    server.on('connection', socket => { sockets.add(socket); socket.on('close', () => sockets.delete(socket)); });
    const beat = setInterval(() => { for (const feed of feeds) if (!self.away) feed.write(': ping\n\n'); }, 500);
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    self.address = `http://127.0.0.1:${server.address().port}`;

    async function close() {
        clearInterval(beat);
        for (const socket of sockets) socket.destroy();
        await new Promise(done => server.close(done));
    }
    self.drop = () => { for (const socket of sockets) socket.destroy(); };
    return self;
}
