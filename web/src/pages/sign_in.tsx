// Sign-in: a connection string or a key. It is tried as it is typed; what is kept stays in this tab.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError, get } from '../api/client';
import { parse, sign_in, sign_out, token } from '../api/session';
import type { Server } from '../api/types';
import { use_title } from '../model/load';
import { Logo, Text } from '../parts/basics';
import { go, own_address } from '../route';
import { state } from '../state';

type Tried = { tone: 'ok' | 'bad' | 'muted'; text: string; server?: Server } | null;

const loopback = (): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);

function said(server: Server): string {
    const rights = server.access.rights, does = [rights.includes('Listen') ? 'reads' : '', rights.includes('Send') ? 'sends' : '', rights.includes('Manage') ? 'manages' : ''].filter(Boolean);
    const words = does.length > 1 ? `${does.slice(0, -1).join(', ')} and ${does.at(-1)}` : does.join('') || 'may do nothing with';
    return `${server.access.rule ?? 'this key'}, ${words} ${server.access.hub ?? 'all hubs'}`;
}

function use_tried(text: string): Tried {
    const [tried, set_tried] = useState<Tried>(null);
    useEffect(() => {
        const parsed = parse(text);
        if (!parsed.ok) { set_tried(parsed.problem ? { tone: 'muted', text: parsed.problem } : null); return undefined; }
        let current = true;
        const timer = setTimeout(() => {
            const { credentials } = parsed, host = location.hostname + (credentials.hub ? `/${credentials.hub}` : '');
            get<Server>('/server', { Authorization: token(credentials, host, Date.now() / 1000) }).then(
                server => { if (current) set_tried({ tone: 'ok', text: said(server), server }); },
                (error: unknown) => {
                    if (!current) return;
                    const refused = error instanceof ApiError && (error.status === 401 || error.status === 403);
                    set_tried({ tone: 'bad', text: refused ? 'This key is not known here. It may have been rotated. Copy it again, or use another one.' : (error as Error).message });
                });
        }, 250);
        return () => { current = false; clearTimeout(timer); };
    }, [text]);
    return tried;
}

// Many lines come in uneven and leave level.
function Art() {
    const lines = useMemo(() => {
        let seed = 3;
        const next = () => { seed = (seed * 1103515245 + 12345) & 0x7fffffff; return seed / 0x7fffffff; };
        return Array.from({ length: 16 }, (_, i) => ({ from: 120 + next() * 660, to: 330 + i * 16, at: 470 + next() * 26, owner: i % 3 + 1 }));
    }, []);
    return <svg class="art" viewBox="0 0 720 900" width="100%" height="100%" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        {lines.map(line => <g class={`o${line.owner}`}><path d={`M-10 ${line.from}C 200 ${line.from} 230 ${line.to} 400 ${line.to} L 760 ${line.to}`} /><rect x={line.at} y={line.to - 4} width={34} height={8} rx={2} /></g>)}</svg>;
}

export function SignInPage({ to }: { to: string | null }) {
    use_title('Sign in');
    const [text, set_text] = useState(''), tried = use_tried(text);
    const secure = location.protocol === 'https:' || loopback();
    useEffect(() => { sign_out(); }, []);
    const enter = (event: Event) => {
        event.preventDefault();
        const parsed = parse(text);
        if (!parsed.ok || tried?.tone !== 'ok') return;
        sign_in(parsed.credentials);
        set_text('');
        state.server = tried.server ?? null;
        go(own_address(to), true);
    };
    return <main class="signin" id="main"><form onSubmit={enter}>
        <div class="mark"><Logo size={36} /></div><h1>Sign in to this hub</h1>
        {secure ? <>
            <p class="lead">Paste a connection string or a key. It stays in this tab and is gone when you close it.</p>
            <label class="field-label" for="key">Connection string or key</label>
            <textarea id="key" class="input full" rows={4} spellcheck={false} autocomplete="off" autocapitalize="off" autofocus value={text} onInput={event => set_text(event.currentTarget.value)}
                onKeyDown={event => { if (event.key === 'Enter') enter(event); }} aria-describedby="tried" />
            <p id="tried" class="tried" role="status">{tried ? <><span class={tried.tone}>{tried.tone === 'ok' ? '✓' : tried.tone === 'bad' ? '✕' : ''}</span> <Text v={tried.text} /></> : null}</p>
            <button class="btn pri wide" disabled={tried?.tone !== 'ok'}>Sign in</button>
            <p class="muted hint">No key? On the server: <code>evenkeel key show operators</code></p></>
            : <><p class="lead">Not over this connection: it is plain HTTP from another machine, so everybody on the way could read the key.</p>
                <p class="muted">Use <code>https://</code>, or open a tunnel: <code>ssh -L 8080:localhost:{location.port || '80'} {location.hostname}</code>, then <code>http://localhost:8080/ui/</code>.</p></>}
    </form><Art /></main>;
}
