// The top bar: which hub and group, whether the page is live, and what the reader may do.
import { useState } from 'preact/hooks';
import { Chevron, Kbd, Name } from '../parts/basics';
import { address, type Route } from '../route';
import { sign_out, signed_in } from '../api/session';
import { state, to_sign_in } from '../state';
import { use_keys } from './keys';

interface Choice { name: string; to: string; on: boolean }

function Picker({ label, text, choices }: { label: string; text: string; choices: Choice[] }) {
    const [open, set_open] = useState(false);
    return <span class="pickbox" onFocusOut={event => { if (!(event.currentTarget as Element).contains(event.relatedTarget as Node | null)) set_open(false); }}>
        <button type="button" class="pick" aria-haspopup="true" aria-expanded={open} aria-label={`${label}: ${text}`} onClick={() => set_open(!open)}><Name v={text} /><Chevron /></button>
        {open ? <Choices choices={choices} close={() => set_open(false)} /> : null}
    </span>;
}

function Choices({ choices, close }: { choices: Choice[]; close(): void }) {
    use_keys({ Escape: close });
    return <ul class="menu">{choices.map(choice => <li><a href={choice.to} class={choice.on ? 'on' : ''} onClick={close}><Name v={choice.name} /></a></li>)}</ul>;
}

function LiveMark() {
    const status = state.offline_since !== null ? 'offline' : state.status;
    const words = { live: 'Live', polling: 'Every 5 s', connecting: 'Connecting', offline: 'Offline' }[status];
    return <span class={`live ${status}`}><i />{words}</span>;
}

export function Bar({ route, hub, group, open }: { route: Route; hub: string | null; group: string | null; open(what: 'find' | 'keys'): void }) {
    const hubs = state.hubs ?? [], groups = state.groups ?? [];
    const with_group = route.group !== null, rights = state.server?.access.rights ?? [];
    const hub_choices: Choice[] = [{ name: 'All hubs', to: address('overview'), on: route.hub === null },
        ...hubs.map(one => {
            const its = groups.find(other => other.hub === one.name);
            const to = with_group && its ? address(route.page, one.name, its.group) : address(route.hub !== null && !with_group ? route.page : 'partitions', one.name);
            return { name: one.name, to, on: one.name === route.hub };
        })];
    const group_choices = groups.filter(one => one.hub === hub).map(one => ({ name: one.group, to: address(with_group ? route.page : 'processors', one.hub, one.group), on: one.group === route.group }));
    return <header class="bar">
        <Picker label="Hub" text={route.hub ?? 'All hubs'} choices={hub_choices} />
        {with_group && group ? <><span class="sl">/</span><Picker label="Group" text={group} choices={group_choices} /></> : null}
        <span class="sp" />
        <LiveMark />
        <button type="button" class="barbutton" onClick={() => open('find')}><Kbd>/</Kbd> Find</button>
        <button type="button" class="barbutton" onClick={() => open('keys')}><Kbd>?</Kbd> Keys</button>
        <span class="rights" title={state.server?.access.rule ? `Rule ${state.server.access.rule}` : ''}>{[...rights].sort().join(', ')}</span>
        {signed_in() ? <button type="button" class="barbutton" onClick={() => { sign_out(); to_sign_in(); }}>Sign out</button> : null}
    </header>;
}
