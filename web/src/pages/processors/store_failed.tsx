// The store of the group cannot be opened: what was tried, what to check, when the next try is.
import { useEffect, useState } from 'preact/hooks';
import { group_path, send } from '../../api/client';
import { duration } from '../../formats';
import { steady } from '../../clock';
import type { GroupModel } from '../../model/group';
import { use_interval } from '../../model/use';
import { CopyButton, Name, Note, Text } from '../../parts/basics';
import { state } from '../../state';

const said_ms = 3000;

export function StoreFailed({ model }: { model: GroupModel }) {
    use_interval(1000);
    const [said, set_said] = useState('');
    useEffect(() => { const timer = setTimeout(() => set_said(''), said_ms); return () => clearTimeout(timer); }, [said]);
    const left = model.retry_in_s === null ? null : Math.max(0, model.retry_in_s * 1000 - (steady() - model.retry_seen));
    const look = () => send('POST', `${group_path(model.hub, model.group)}/requests`, { action: 'look' }).then(() => set_said('Asked.'), (error: Error) => set_said(error.message));
    const host = /^[a-z+]+:\/\/([^/?]+)/.exec(model.store)?.[1], others = (state.groups ?? []).length - 1;
    return <Note title="The store of this group cannot be opened." actions={<>
        {state.may('Manage') ? <button type="button" class="btn pri" onClick={() => void look()}>Try now</button> : null}
        <CopyButton label="Copy details" text={() => `${model.store}\n${model.error ?? ''}`} />
        {said ? <span class="muted" role="status">{said}</span> : left === null ? null : <span class="muted">Next try in {duration(Math.ceil(left / 1000) * 1000, 'left').replace('.0', '')}</span>}</>}>
        <p class="lead">So owners, checkpoints and lag of <b><Name v={model.hub} /> / <Name v={model.group} /></b> are unknown here. The processors themselves may be well: they do not need this page.</p>
        <pre class="bad-edge"><Text v={model.store} />{'\n'}<Text v={model.error ?? 'no error was given'} /></pre>
        <h2>What to do</h2>
        <ul class="todo">
            {host ? <li>From the server, check that <code>{host}</code> answers.</li> : <li>On the server, check that the file or folder is there and may be read.</li>}
            <li>The address is set in <code>[[group]] store</code> of the server's file, or by <code>--watch-store</code>.</li>
            <li>{others > 0 ? `Hubs, events and the other ${others === 1 ? 'group' : `${others} groups`} work as usual.` : 'Hubs and events work as usual.'}</li>
        </ul></Note>;
}
