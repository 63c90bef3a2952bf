// Send: one event, or the same one several times, by key or to a partition.
import { useState } from 'preact/hooks';
import { ApiError, hub_path, send } from '../api/client';
import { count, plural } from '../formats';
import { use_title } from '../model/load';
import { Name } from '../parts/basics';
import { Failed } from '../parts/failed';
import { address } from '../route';
import { state, use_state } from '../state';

interface Sent { sent: { partition: number; first: number; last: number }[] }

function is_json(text: string): boolean {
    try { JSON.parse(text); return true; } catch { return false; }
}

export function SendPage({ hub }: { hub: string }) {
    use_state();
    use_title(`Send · ${hub}`);
    const [body, set_body] = useState('{"kind":"door","state":"opened"}'), [key, set_key] = useState('home-1'), [partition, set_partition] = useState(''), [properties, set_properties] = useState(''), [times, set_times] = useState('1');
    const [sent, set_sent] = useState<Sent | null>(null), [error, set_error] = useState<ApiError | null>(null);
    const many = Math.min(1000, Math.max(1, Number(times) || 1));
    const lines = properties.split('\n').filter(line => line.trim()), wrong = lines.find(line => !line.includes('='));
    const act = async (event: { preventDefault(): void }) => {
        event.preventDefault();
        const pairs = Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]));
        const one = { body, ...(key && !partition ? { partition_key: key } : {}), ...(is_json(body) ? { content_type: 'application/json' } : {}), ...(lines.length ? { properties: pairs } : {}) };
        try {
            set_sent(await send<Sent>('POST', `${hub_path(hub)}/events`, { events: Array.from({ length: many }, () => one), ...(partition ? { partition: Number(partition) } : {}) }));
            set_error(null);
        } catch (failed) {
            set_sent(null);
            set_error(failed as ApiError);
        }
    };
    if (error?.status === 403) return <Failed error={error} again={() => set_error(null)} right="send" />;
    return <section class="page narrow"><div class="verdict"><div><h1>Send to <Name v={hub} /></h1><p>It is stored before the answer comes. {is_json(body) ? 'The body is JSON.' : 'The body is text.'}</p></div></div>
        <form class="sendform" onSubmit={event => void act(event)}>
            <label class="field-label">Body<textarea class="input full" rows={8} spellcheck={false} value={body} onInput={event => set_body(event.currentTarget.value)} /></label>
            <div class="three">
                <label class="field-label">Partition key<input class="input full" value={key} disabled={partition !== ''} onInput={event => set_key(event.currentTarget.value)} /></label>
                <label class="field-label">or partition<input class="input full" inputMode="numeric" placeholder="by key" value={partition} onInput={event => set_partition(event.currentTarget.value.replace(/\D/g, ''))} /></label>
                <label class="field-label">How many times<input class="input full" inputMode="numeric" value={times} onInput={event => set_times(event.currentTarget.value)} /></label>
            </div>
            <label class="field-label">Properties, one <code>name=value</code> a line<textarea class="input full" rows={3} spellcheck={false} value={properties} onInput={event => set_properties(event.currentTarget.value)} /></label>
            {wrong ? <p class="bad">"<Name v={wrong} />" has no "=".</p> : null}
            {error ? <p class="bad" role="alert">{error.message}</p> : null}
            <div class="row-actions"><button class="btn pri" disabled={wrong !== undefined || !state.may('Send')}>Send{many > 1 ? ` ${count(many)}` : ''}</button>
                {state.may('Send') ? null : <span class="muted">Your key may look, not send.</span>}
                <span role="status">{sent ? <>Stored: {sent.sent.map((one, i) => <>{i ? ', ' : ''}<a class="link" href={address('events', hub, null, { from: `seq:${one.first}`, p: String(one.partition), open: `${one.partition}/${one.first}` })}>partition {one.partition}, {one.first === one.last ? count(one.first) : `${count(one.first)} to ${count(one.last)}`}</a></>)}. {plural(sent.sent.reduce((sum, one) => sum + one.last - one.first + 1, 0), 'event')}.</> : null}</span></div>
        </form></section>;
}
