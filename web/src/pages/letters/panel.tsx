// One letter: why it is here, its body, where it was.
import { useState } from 'preact/hooks';
import { group_path, hub_path } from '../../api/client';
import type { Event, HubDetail, Letter } from '../../api/types';
import { server_now } from '../../clock';
import { bytes, count, duration, moment, pad, plural, time, until } from '../../formats';
import { use_get } from '../../model/load';
import { Name, Panel, Text, Time } from '../../parts/basics';
import { body_bytes, hex_lines, JsonTree, PlainText } from '../../parts/json_tree';
import { go_query } from '../../route';
import { state } from '../../state';
import { ActDialog } from './act';

type Whole = Letter & Partial<Event>;

// How often it was tried, and the time from its storing to when it was dead-lettered.
function Attempts({ letter }: { letter: Whole }) {
    const from = moment(letter.enqueued_at), to = moment(letter.at);
    if (from === null || to === null) return <h3>{plural(letter.attempts, 'attempt')}</h3>;
    return <><h3>{plural(letter.attempts, 'attempt')}, dead-lettered {duration(to - from, 'move')} after it was stored</h3>
        <svg class="attempts" width="100%" viewBox="0 0 376 38" role="img" aria-label={`${plural(letter.attempts, 'attempt')}, dead-lettered ${time(to, server_now())}`}><line x1={6} x2={370} y1={10} y2={10} />
            <circle cx={6} cy={10} r={4.5} /><rect x={362} y={4} width={12} height={12} rx={2} />
            <text x={0} y={34}>stored {time(from, server_now())}</text><text x={374} y={34} text-anchor="end">dead-lettered {time(to, server_now())}</text></svg></>;
}

export function LetterPanel({ hub, group, open, partitions, done }: { hub: string; group: string; open: string; partitions: number; done(): void }) {
    const valid = /^\d+\/\d+$/.test(open), path = `${group_path(hub, group)}/dead-letters`, loaded = use_get<Whole>(valid ? `${path}/${open}` : null);
    const [act, set_act] = useState<'resend' | 'edit' | 'discard' | null>(null), [p, seq] = open.split('/').map(Number), letter = loaded.value;
    const keeps = use_get<HubDetail>(hub_path(hub)).value?.retention_ms ?? null, stored = moment(letter?.enqueued_at), kept = keeps === null || stored === null ? null : stored + keeps;
    const title = valid ? `${pad(p!, partitions)} / ${count(seq)}` : 'No such letter', body = letter?.body;
    const change = state.may('Manage'), resend = change && state.may('Send');
    return <Panel wide label={`Dead letter ${title}`} title={title} close={() => go_query({ open: null })} actions={letter && change ? <>
        {resend ? <><button type="button" class="btn pri" onClick={() => set_act('resend')}>Resend…</button>{body && body.kind !== 'base64' && !body.truncated ? <button type="button" class="btn" onClick={() => set_act('edit')}>Edit, then resend…</button> : null}</> : null}
        <button type="button" class="btn danger" onClick={() => set_act('discard')}>Discard…</button></> : null}>
        {!letter ? <p class={loaded.error ? 'bad' : 'muted'}>{loaded.error?.message ?? ''}</p> : <>
            <p class="bad strong"><Text v={letter.cause} /></p>
            <Attempts letter={letter} />
            <h3>Body <span class="faint">{bytes(letter.bytes)}</span></h3>
            {!body ? <p class="muted">It is no longer kept.</p> : body.kind === 'json' ? <JsonTree text={body.value} stored={letter.enqueued_at} /> : body.kind === 'text' ? <PlainText text={body.value} /> : <div class="json hex">{hex_lines(body_bytes(body))}</div>}
            <h3>Where it was</h3><dl><dt>Hub, group</dt><dd><Name v={hub} />, <Name v={group} /></dd>
                <dt>Stored</dt><dd>{letter.enqueued_at ? <Time v={letter.enqueued_at} exact /> : '–'}</dd><dt>Key</dt><dd class="mono">{letter.partition_key === null ? 'none' : <Name v={letter.partition_key} />}</dd>
                {kept === null ? null : kept > server_now() ? <><dt>Still in the hub until</dt><dd>{until(kept, server_now())}</dd></> : <><dt>In the hub</dt><dd>no longer</dd></>}</dl></>}
        {act && letter ? <ActDialog path={path} letters={[letter]} action={act === 'discard' ? 'discard' : 'resend'} {...(act === 'edit' && body ? { body: body.value } : {})} close={() => set_act(null)} done={done} /> : null}
    </Panel>;
}
