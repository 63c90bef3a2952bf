// Find: hubs, groups, members and partition numbers by what is typed.
import { useMemo, useState } from 'preact/hooks';
import { pad } from '../formats';
import { Dialog, Name } from '../parts/basics';
import { address, go } from '../route';
import { state } from '../state';

interface Found { kind: string; name: string; to: string }

function everything(hub: string | null, group: string | null, text: string): Found[] {
    const found: Found[] = [];
    if (hub && group && /^\d+$/.test(text)) {
        const size = state.group(hub, group).size;
        if (Number(text) < size) found.push({ kind: 'Partition', name: pad(Number(text), size), to: address('processors', hub, group, { p: String(Number(text)) }) });
    }
    for (const one of state.groups ?? []) {
        found.push({ kind: 'Group', name: `${one.hub} / ${one.group}`, to: address('processors', one.hub, one.group) });
        one.owners.forEach((id, index) => {
            const first = one.strip.indexOf(index);
            found.push({ kind: 'Member', name: id, to: address('processors', one.hub, one.group, first < 0 ? {} : { p: String(first) }) });
        });
    }
    for (const one of state.hubs ?? []) found.push({ kind: 'Hub', name: one.name, to: address('partitions', one.name) });
    const wanted = text.toLowerCase();
    return found.filter(one => one.kind === 'Partition' || one.name.toLowerCase().includes(wanted)).slice(0, 12);
}

export function Find({ close, hub, group }: { close(): void; hub: string | null; group: string | null }) {
    const [text, set_text] = useState(''), [at, set_at] = useState(0);
    const found = useMemo(() => everything(hub, group, text.trim()), [text]);
    const take = (one: Found | undefined) => { if (one) { close(); go(one.to); } };
    const press = (event: KeyboardEvent) => {
        if (event.key === 'ArrowDown') set_at(Math.min(at + 1, found.length - 1));
        else if (event.key === 'ArrowUp') set_at(Math.max(0, at - 1));
        else if (event.key === 'Enter') take(found[at]);
        else return;
        event.preventDefault();
    };
    return <Dialog title="Find" close={close}>
        <input class="input full" autofocus placeholder="Hub, group, member, or partition number" aria-label="Find a hub, group, member or partition number" value={text}
            onInput={event => { set_text(event.currentTarget.value); set_at(0); }} onKeyDown={press} />
        <ul class="found">{found.map((one, i) => <li><button type="button" class={i === at ? 'on' : ''} onClick={() => take(one)}><span class="muted">{one.kind}</span> <Name v={one.name} most={48} /></button></li>)}</ul>
        {found.length === 0 ? <p class="muted">Nothing here has that name.</p> : null}
    </Dialog>;
}
