// One event: its body as a tree, as text, as bytes, its AMQP sections; resend, copy, save.
import { useEffect, useState } from 'preact/hooks';
import { get, group_path, hub_path, segment, send } from '../../api/client';
import type { Event, Snapshot } from '../../api/types';
import { server_now } from '../../clock';
import { bytes, count, moment, pad, time, until, visible } from '../../formats';
import { use_get } from '../../model/load';
import { CopyButton, Dialog, Name, Panel, Text } from '../../parts/basics';
import { body_bytes, hex_lines, JsonTree, PlainText } from '../../parts/json_tree';
import { go_query } from '../../route';
import { state } from '../../state';
import { save } from '../events';
import { copies } from './copies';

const forms = [['json', 'JSON'], ['text', 'Text'], ['hex', 'Hex'], ['amqp', 'AMQP']] as const;

function Body({ event, as }: { event: Event; as: string }) {
    if (as === 'amqp') return <div class="json wrap">{event.sections?.length ? event.sections.map(section => <><b>{visible(section.name)}</b>{'\n'}{hex_lines(Uint8Array.from(section.hex.match(/../g) ?? [], two => parseInt(two, 16)))}{'\n\n'}</>) : 'The sections are read with the whole event.'}</div>;
    if (as === 'hex') return <div class="json hex">{hex_lines(body_bytes(event.body))}</div>;
    if (event.body.kind === 'base64') return as === 'json' ? <><p class="muted">The body is not text. These are its bytes.</p><div class="json hex">{hex_lines(body_bytes(event.body))}</div></> : <PlainText text={event.body.value} />;
    return as === 'json' && event.body.kind === 'json' ? <JsonTree text={event.body.value} stored={event.enqueued_at} /> : <PlainText text={event.body.value} />;
}

function Resend({ hub, event, close }: { hub: string; event: Event; close(): void }) {
    const [to, set_to] = useState(hub), [said, set_said] = useState(''), [bad, set_bad] = useState(false);
    const act = async () => {
        try {
            const answer = await send<{ sent: { partition: number; first: number }[] }>('POST', `${hub_path(to)}/events`, { copy_of: { hub, partition: event.p, sequence_number: event.seq } });
            const sent = answer?.sent[0];
            set_bad(false);
            set_said(sent ? `It is now ${count(sent.first)} of partition ${sent.partition}.` : 'Sent.');
        } catch (error) {
            set_bad(true);
            set_said((error as Error).message);
        }
    };
    return <Dialog title="Resend this event" close={close}>
        <p class="muted">A copy goes to the end{event.partition_key === null ? '' : ', with the same key, so it keeps its partition'}. It comes after newer events.</p>
        <label class="field-label">To<select class="input full" value={to} onChange={change => set_to(change.currentTarget.value)}>{(state.hubs ?? []).map(one => <option value={one.name}>{one.name}</option>)}</select></label>
        {said ? <p class={bad ? 'bad' : ''} role="status">{said}</p> : null}
        <div class="row-actions"><button type="button" class="btn pri" onClick={() => void act()}>Resend</button><button type="button" class="btn" onClick={close}>Close</button></div></Dialog>;
}

export function EventPanel({ hub, open, listed, as, partitions }: { hub: string; open: string; listed: Event | null; as: string; partitions: number }) {
    const [p, seq] = open.split('/'), valid = /^\d+\/\d+$/.test(open);
    const loaded = use_get<Event>(valid ? `${hub_path(hub)}/partitions/${segment(p!)}/events/${segment(seq!)}` : null);
    const [dialog, set_dialog] = useState(false), [menu, set_menu] = useState(false);
    const event = loaded.value ?? listed, form = forms.some(([name]) => name === as) ? as : 'json', forms_to_copy = event ? copies(hub, event, location.origin) : [];
    const title = valid ? `${pad(Number(p), partitions)} / ${count(Number(seq))}` : 'No such event';
    return <Panel wide label={`Event ${title}`} title={title} keys={['J', 'K']} close={() => go_query({ open: null })} actions={event ? <>
        {state.may('Send') ? <button type="button" class="btn" onClick={() => set_dialog(true)}>Resend…</button> : null}
        <span class="pickbox up"><button type="button" class="btn" aria-expanded={menu} disabled={forms_to_copy.length === 0} {...(forms_to_copy.length ? {} : { title: 'Only a part of the event is here.' })} onClick={() => set_menu(!menu)}>Copy as…</button>{menu && forms_to_copy.length ? <div class="menu">{forms_to_copy.map(([name, text]) => <CopyButton class="menuitem" label={name} text={() => text} />)}</div> : null}</span>
        <button type="button" class="btn" onClick={() => save(`${p}-${seq}.json`, JSON.stringify(event, null, 2))}>Save</button></> : null}>
        {!event ? <p class={loaded.error ? 'bad' : 'muted'}>{loaded.error ? loaded.error.message : valid ? '' : 'The address names no event.'}</p> : <>
            <p class="muted">{time(event.enqueued_at, server_now(), true)} · {bytes(event.bytes)}{event.content_type ? <> · <Name v={event.content_type} /></> : null}</p>
            <div class="tabs" role="tablist">{forms.map(([name, text]) => <button type="button" role="tab" aria-selected={form === name} class={form === name ? 'on' : ''} onClick={() => go_query({ as: name }, true)}>{text}</button>)}</div>
            <Body event={event} as={form} />
            {event.body.truncated ? <p class="warn">The first 64 KB of {bytes(event.bytes)}.</p> : null}
            {Object.keys(event.properties ?? {}).length ? <><h3>Properties</h3><dl>{Object.entries(event.properties).map(([name, value]) => <><dt class="mono"><Name v={name} /></dt><dd class="mono"><Name v={typeof value === 'string' ? value : JSON.stringify(value)} most={64} /></dd></>)}</dl></> : null}
            <h3>Where it is</h3><Where hub={hub} event={event} partitions={partitions} /></>}
        {dialog && event ? <Resend hub={hub} event={event} close={() => set_dialog(false)} /> : null}
    </Panel>;
}

const groups_asked = 4;

// Whether the watched groups of the hub have handled the event.
function use_past(hub: string, event: Event): { group: string; is_past: boolean }[] {
    const [past, set_past] = useState<{ group: string; is_past: boolean }[]>([]);
    useEffect(() => {
        let current = true;
        const groups = (state.groups ?? []).filter(one => one.hub === hub && one.state === 'ok').slice(0, groups_asked);
        void Promise.all(groups.map(async ({ group }) => {
            const checkpoint = (await get<Snapshot>(`${group_path(hub, group)}/processors`)).partitions[event.p]?.checkpoint ?? null;
            return { group, is_past: checkpoint !== null && checkpoint >= event.seq };
        })).then(found => { if (current) set_past(found); }, () => undefined);
        return () => { current = false; };
    }, [hub, event.p, event.seq, state.groups?.length]);
    return past;
}

function Where({ hub, event, partitions }: { hub: string; event: Event; partitions: number }) {
    const detail = use_get<{ retention_ms: number | null }>(hub_path(hub)), keeps = detail.value?.retention_ms ?? null, at = moment(event.enqueued_at);
    const row = (name: string, value: preact.ComponentChildren) => value === null || value === undefined ? null : <><dt>{name}</dt><dd class="mono">{value}</dd></>;
    const past = use_past(hub, event);
    return <dl>
        {row('Partition key', event.partition_key === null ? 'none' : <><Name v={event.partition_key} /> → {pad(event.p, partitions)}</>)}
        {row('Offset', /^\d+$/.test(event.offset) ? count(Number(event.offset)) : <Text v={event.offset} />)}
        {row('Message id', event.message_id === null ? null : <Name v={String(event.message_id)} />)}
        {row('Correlation id', event.correlation_id === null ? null : <Name v={String(event.correlation_id)} />)}
        {past.length ? <><dt>Checkpoints past it</dt><dd>{past.some(one => one.is_past) ? past.filter(one => one.is_past).map((one, i) => <>{i ? ', ' : ''}<Name v={one.group} most={20} /></>) : 'none yet'}</dd></> : null}
        {keeps !== null && at !== null ? row('Kept until', until(at + keeps, server_now())) : null}
    </dl>;
}
