// Hubs: all of them, and a form for a new one.
import { useState } from 'preact/hooks';
import { send } from '../api/client';
import type { Overview } from '../api/types';
import { bytes, count, plural, rate } from '../formats';
import { furthest_behind } from '../model/furthest';
import { use_get, use_title } from '../model/load';
import { Dialog, Name, Waiting } from '../parts/basics';
import { Failed } from '../parts/failed';
import { address, go } from '../route';
import { state, use_state } from '../state';

function NewHub({ close, again }: { close(): void; again(): void }) {
    const [name, set_name] = useState(''), [partitions, set_partitions] = useState('4'), [problem, set_problem] = useState('');
    const make = async (event: Event) => {
        event.preventDefault();
        try {
            await send('POST', '/hubs', { name, partitions: Number(partitions) });
            again();
            close();
            await state.load();
            go(address('partitions', name));
        } catch (error) {
            set_problem((error as Error).message);
        }
    };
    return <Dialog title="New hub" close={close}><form onSubmit={event => void make(event)}>
        <label class="field-label">Name<input class="input full" value={name} onInput={event => set_name(event.currentTarget.value)} autofocus /></label>
        <label class="field-label">Partitions<input class="input full" inputMode="numeric" value={partitions} onInput={event => set_partitions(event.currentTarget.value)} /></label>
        <p class="muted">As many as processors should share the work at most. They can be added later, not taken away.</p>
        {problem ? <p class="bad" role="alert">{problem}</p> : null}
        <div class="row-actions"><button class="btn pri" disabled={!name || !/^\d+$/.test(partitions)}>Make it</button><button type="button" class="btn" onClick={close}>Cancel</button></div>
    </form></Dialog>;
}

export function HubsPage() {
    use_state();
    use_title('Hubs');
    const loaded = use_get<Overview>('/overview', 5000), [making, set_making] = useState(false);
    const overview = state.overview ?? loaded.value, groups = state.groups ?? [];
    if (loaded.error && !overview) return <Failed error={loaded.error} again={loaded.again} />;
    if (!overview) return <Waiting>Reading the hubs…</Waiting>;
    const hubs = overview.hubs, total = hubs.reduce((sum, hub) => sum + (hub.in_per_s ?? 0), 0);
    return <section class="page"><div class="verdict"><div><h1>{hubs.length ? `${plural(hubs.length, 'hub')}, ${rate(total)} in.` : 'No hub yet.'}</h1>
        <p>{hubs.length ? 'Each keeps its events for a time and hands them to any number of groups.' : 'Make one, and events can be sent to it.'}</p></div>
    <div class="act">{state.may('Manage') && state.only_hub === null ? <button type="button" class={hubs.length ? 'btn' : 'btn pri'} onClick={() => set_making(true)}>New hub…</button> : null}</div></div>
    {hubs.length ? <div class="scrollx"><table><thead><tr><th scope="col">Hub</th><th scope="col" class="r">Partitions</th><th scope="col" class="r">Groups</th><th scope="col" class="r">In</th><th scope="col" class="r">Out</th><th scope="col" class="r">Furthest behind</th><th scope="col" class="r">Events</th><th scope="col" class="r">Size</th><th scope="col" /></tr></thead><tbody>
        {hubs.map(hub => {
            const its = groups.filter(one => one.hub === hub.name);
            return <tr><td><a class="medium" href={address('partitions', hub.name)}><Name v={hub.name} /></a></td><td class="r muted">{count(hub.partitions)}</td><td class="r muted">{count(hub.groups)}</td><td class="r">{rate(hub.in_per_s)}</td><td class="r">{rate(hub.out_per_s)}</td>
                <td class="r">{its.length ? furthest_behind(its) : <span class="faint">no group</span>}</td><td class="r">{count(hub.events)}</td><td class="r">{bytes(hub.bytes)}</td>
                <td class="r"><a class="link" href={address('events', hub.name)}>Events</a></td></tr>;
        })}</tbody></table></div> : null}
    {making ? <NewHub close={() => set_making(false)} again={loaded.again} /> : null}</section>;
}
