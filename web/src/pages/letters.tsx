// Dead letters: causes, the letters of a cause, and the letter.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, group_path } from '../api/client';
import type { Letter, LetterPage } from '../api/types';
import { server_now } from '../clock';
import { count, moment, pad, plural, rough, short_time } from '../formats';
import { use_keys } from '../frame/keys';
import { use_get, use_title } from '../model/load';
import { Name, Time, Waiting } from '../parts/basics';
import { Failed } from '../parts/failed';
import { Spoken } from '../parts/spoken';
import { go_query } from '../route';
import { state, use_state } from '../state';
import { save } from './events';
import { collect } from './letters/export';
import { ActDialog } from './letters/act';
import { LetterPanel } from './letters/panel';

export const letter_id = (letter: Pick<Letter, 'p' | 'seq'>): string => `${letter.p}/${letter.seq}`;
const words = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

function when(at: string, many: boolean): string {
    const ms = moment(at), now = server_now();
    if (ms === null) return '';
    return many ? `newest ${now - ms < 60_000 ? 'just now' : now - ms < 3_600_000 ? `${rough(now - ms)} ago` : short_time(ms, now)}` : `${short_time(ms, now)}, once`;
}

// Letters with their events, as a file. What it says while it works, or when it has failed.
function Export({ path, cause, picked }: { path: string; cause: string | null; picked: Letter[] }) {
    const [said, set_said] = useState(''), [busy, set_busy] = useState(false);
    const act = async () => {
        set_busy(true);
        try {
            const { lines, is_all } = await collect(get, path, cause, picked, done => set_said(`${count(done)} read…`));
            save('dead-letters.ndjson', lines.join('\n'));
            set_said(is_all ? '' : `Only the first ${count(lines.length)} are in the file.`);
        } catch (error) {
            set_said((error as Error).message);
        }
        set_busy(false);
    };
    return <><span role="status" class="muted">{said}</span><button type="button" class="btn" disabled={busy} onClick={() => void act()}>Export</button></>;
}

const unknown_every_ms = 30_000;

export function LettersPage({ hub, group, query }: { hub: string; group: string; query: URLSearchParams }) {
    use_state();
    use_title(`Dead letters · ${hub} / ${group}`);
    const cause = query.get('cause'), path = `${group_path(hub, group)}/dead-letters`, opened = query.get('open');
    const known = state.groups?.find(one => one.hub === hub && one.group === group)?.dead_letters ?? null;
    const loaded = use_get<LetterPage>(`${path}?limit=100${cause ? `&cause=${encodeURIComponent(cause)}` : ''}`, known === null ? unknown_every_ms : undefined), last_known = useRef(known);
    // A look reads the letters with their events, so it is taken when their number has changed.
    useEffect(() => { if (last_known.current !== known) loaded.again(); last_known.current = known; }, [known]);
    const [chosen, choose] = useState<ReadonlySet<string>>(new Set()), [act, set_act] = useState<'resend' | 'discard' | null>(null);
    const letters = loaded.value?.dead_letters ?? [], at = letters.findIndex(letter => letter_id(letter) === opened);
    const step = (by: number) => () => { const next = letters[at < 0 ? 0 : Math.min(letters.length - 1, Math.max(0, at + by))]; if (next) go_query({ open: letter_id(next) }, opened !== null); };
    use_keys({ j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1), ...(opened ? { Escape: () => go_query({ open: null }) } : {}) });
    if (loaded.error && !loaded.value) return <Failed error={loaded.error} again={loaded.again} right="read events" />;
    if (!loaded.value) return <Waiting>Reading the dead letters…</Waiting>;
    const { total, causes } = loaded.value, partitions = state.hubs?.find(one => one.name === hub)?.partitions ?? 16;
    const toggle = (id: string) => { const next = new Set(chosen); if (!next.delete(id)) next.add(id); choose(next); };
    const all = letters.length > 0 && letters.every(letter => chosen.has(letter_id(letter))), picked = letters.filter(letter => chosen.has(letter_id(letter)));
    const done = () => { choose(new Set()); set_act(null); loaded.again(); void state.load(); };
    if (total === 0) return <section class="page note-page"><h1>Nothing here. Good.</h1><p class="lead">Events that fail 5 times come here.</p></section>;
    return <div class="withpanel"><section class="page"><div class="verdict"><div><h1>{plural(total, 'event')} {total === 1 ? 'was' : 'were'} dead-lettered.</h1>
        <p>{words[causes.length] ?? count(causes.length)} {causes.length === 1 ? 'cause' : 'causes'}. None was lost: each is kept here until you resend or discard it.</p></div><Spoken text={`${total} events were dead-lettered.`} /></div>
    <div class="lettersplit"><div><h2>Causes</h2><ul class="causes">{causes.map(one => <li><button type="button" class={one.cause === cause ? 'on' : ''} aria-pressed={one.cause === cause} onClick={() => { choose(new Set()); go_query({ cause: one.cause === cause ? null : one.cause, open: null }); }}>
        <b>{count(one.count)}</b><span class="medium"><Name v={one.cause} most={80} /></span><span class="muted small">{when(one.last_at, one.count > 1)}</span></button></li>)}</ul></div>
    <div class="letterlist"><div class="letterbar"><h2>{picked.length ? `${picked.length} selected` : plural(letters.length, 'dead letter')}</h2><span class="sp" />
        {state.may('Manage') ? <button type="button" class="btn danger" disabled={!picked.length} onClick={() => set_act('discard')}>Discard…</button> : null}
        <Export path={path} cause={cause} picked={picked} />
        {state.may('Manage') && state.may('Send') ? <button type="button" class="btn pri" disabled={!picked.length} onClick={() => set_act('resend')}>Resend{picked.length ? ` ${picked.length}` : ''}…</button> : null}</div>
    <table><thead><tr><th scope="col"><input type="checkbox" aria-label="Select all" checked={all} onChange={() => choose(all ? new Set() : new Set(letters.map(letter_id)))} /></th><th scope="col">When</th><th scope="col" class="r">Partition</th><th scope="col" class="r">Sequence</th><th scope="col">Key</th><th scope="col" class="r">Attempts</th></tr></thead><tbody>
        {letters.map(letter => { const id = letter_id(letter); return <tr key={id} class={id === opened ? 'sel' : ''}><td><input type="checkbox" aria-label={`Select ${id}`} checked={chosen.has(id)} onChange={() => toggle(id)} /></td>
            <td class="mono"><button type="button" class="mono rowlink" onClick={() => go_query({ open: id }, opened !== null)}><Time v={letter.at} /></button></td><td class="r mono">{pad(letter.p, partitions)}</td><td class="r mono muted">{count(letter.seq)}</td><td class="mono">{letter.partition_key === null ? '–' : <Name v={letter.partition_key} most={24} />}</td><td class="r muted">{count(letter.attempts)}</td></tr>; })}
    </tbody></table>
    {loaded.value.next ? <p class="muted gap">{letters.length ? `The first ${letters.length} of ${count(total)}. Resend or discard these, and the next come. An export has all.` : 'None among the oldest. An export has those that come later.'}</p> : null}
    <p class="muted gap hintwidth">Resending puts a copy at the end of the same hub, with the same key, so it keeps its partition. It arrives after newer events of that key.</p></div></div></section>
    {opened ? <LetterPanel key={opened} hub={hub} group={group} open={opened} partitions={partitions} done={() => { go_query({ open: null }, true); done(); }} /> : null}
    {act ? <ActDialog path={path} letters={picked} action={act} close={() => set_act(null)} done={done} /> : null}</div>;
}
