// Keys: rules and rights. A key's text is copied on demand and never drawn, except once when it is made.
import { useState } from 'preact/hooks';
import { get, send } from '../api/client';
import type { Key, Right } from '../api/types';
import { plural } from '../formats';
import { use_get, use_title } from '../model/load';
import { CopyButton, Dialog, Name, Waiting } from '../parts/basics';
import { keys_path, path_of, string_of } from '../parts/connection_string';
import { Failed } from '../parts/failed';
import { state } from '../state';

function NewKey({ close, again }: { close(): void; again(): void }) {
    const [name, set_name] = useState(''), [hub, set_hub] = useState(state.only_hub ?? ''), [rights, set_rights] = useState<Right[]>(['Listen']), [problem, set_problem] = useState(''), [made, set_made] = useState<Key | null>(null);
    const toggle = (right: Right) => set_rights(rights.includes(right) ? rights.filter(one => one !== right) : [...rights, right]);
    const make = async (event: Event) => {
        event.preventDefault();
        try {
            set_made(await send<Key>('POST', keys_path(hub || null), { name, rights }));
            again();
        } catch (error) {
            set_problem((error as Error).message);
        }
    };
    if (made) return <Dialog title="The key is made" close={close}><p class="muted"><Name v={made.name} /> works at once.</p><div class="row-actions"><CopyButton class="btn pri" label="Copy connection string" text={() => string_of(made)} /><button type="button" class="btn" onClick={close}>Close</button></div></Dialog>;
    return <Dialog title="New key" close={close}><form onSubmit={event => void make(event)}>
        <label class="field-label">Name<input class="input full" value={name} onInput={event => set_name(event.currentTarget.value)} autofocus /></label>
        <label class="field-label">For<select class="input full" value={hub} onChange={event => set_hub(event.currentTarget.value)}>{state.only_hub === null ? <><option value="">all hubs</option>{(state.hubs ?? []).map(one => <option value={one.name}>{one.name}</option>)}</> : <option value={state.only_hub}>{state.only_hub}</option>}</select></label>
        <fieldset class="rights"><legend class="field-label">Rights</legend>{(['Listen', 'Send', 'Manage'] as const).map(right => <label class="tick"><input type="checkbox" checked={rights.includes(right)} onChange={() => toggle(right)} /> {right}</label>)}</fieldset>
        {problem ? <p class="bad" role="alert">{problem}</p> : null}
        <div class="row-actions"><button class="btn pri" disabled={!name || rights.length === 0}>Make it</button><button type="button" class="btn" onClick={close}>Cancel</button></div></form></Dialog>;
}

function Confirm({ action, subject, close, again }: { action: 'rotate' | 'remove'; subject: Key; close(): void; again(): void }) {
    const [typed, set_typed] = useState(''), [problem, set_problem] = useState('');
    const act = async () => {
        try {
            if (action === 'remove') await send('DELETE', path_of(subject)); else await send('POST', `${path_of(subject)}/rotate`, { key: 'primary' });
            again();
            close();
        } catch (error) {
            set_problem((error as Error).message);
        }
    };
    return <Dialog title={action === 'remove' ? 'Remove a key' : 'Rotate a key'} close={close}>
        <p class="muted">{action === 'remove' ? 'Programs that use it lose their links within two seconds and cannot come back with it.' : 'The primary key gets a new text. Programs that use the old one lose their links within two seconds; those with the secondary key go on.'}</p>
        <label class="field-label">Type its name to confirm: <b><Name v={subject.name} /></b><input class="input full" value={typed} onInput={event => set_typed(event.currentTarget.value)} autofocus /></label>
        {problem ? <p class="bad" role="alert">{problem}</p> : null}
        <div class="row-actions"><button type="button" class="btn danger" disabled={typed !== subject.name} onClick={() => void act()}>{action === 'remove' ? 'Remove' : 'Rotate'}</button><button type="button" class="btn" onClick={close}>Cancel</button></div></Dialog>;
}

export function KeysPage() {
    use_title('Keys');
    const loaded = use_get<{ keys: Key[] }>(state.server ? keys_path(state.only_hub) : null), [making, set_making] = useState(false), [asked, ask] = useState<{ action: 'rotate' | 'remove'; subject: Key } | null>(null);
    if (loaded.error && !loaded.value) return <Failed error={loaded.error} again={loaded.again} right="manage" />;
    if (!loaded.value) return <Waiting>Reading the keys…</Waiting>;
    const keys = loaded.value.keys, manage = keys.filter(key => key.rights.includes('Manage')).length;
    return <section class="page"><div class="verdict"><div><h1>{plural(keys.length, 'key')}, {manage} may manage.</h1><p>A key is a name, its rights, and two texts of which one can be replaced while the other is in use.</p></div>
        <div class="act"><button type="button" class="btn" onClick={() => set_making(true)}>New key…</button></div></div>
    <div class="scrollx"><table><thead><tr><th scope="col">Key</th><th scope="col">For</th><th scope="col">Rights</th><th scope="col">Set in</th><th scope="col" /></tr></thead><tbody>
        {keys.map(key => <tr><td class="medium"><Name v={key.name} /></td><td>{key.hub === null ? 'all hubs' : <Name v={key.hub} />}</td><td>{key.rights.join(', ')}</td><td class="muted">{key.fixed ? "the server's file" : 'here'}</td>
            <td class="r actions"><CopyButton class="linkbutton" label="Copy connection string" text={async () => string_of(await get<Key>(path_of(key)))} />
                {key.fixed ? null : <><button type="button" class="linkbutton" onClick={() => ask({ action: 'rotate', subject: key })}>Rotate…</button><button type="button" class="linkbutton" onClick={() => ask({ action: 'remove', subject: key })}>Remove…</button></>}</td></tr>)}
    </tbody></table></div>
    {making ? <NewKey close={() => set_making(false)} again={loaded.again} /> : null}
    {asked ? <Confirm {...asked} close={() => ask(null)} again={loaded.again} /> : null}</section>;
}
