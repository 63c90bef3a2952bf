// Forms that ask the group for something. Each says beforehand what will happen, with figures. A request is taken up
// with the members' next heartbeats, so the form stays until the store shows the effect, or says that it did not come.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, group_path, send } from '../../api/client';
import { count, duration, pad, plural } from '../../formats';
import { steady } from '../../clock';
import { type GroupModel, states } from '../../model/group';
import { use_interval, use_model } from '../../model/use';
import { Dialog, Name } from '../../parts/basics';
import { all_paused } from '../processors';

const patience_ms = 10_000;

interface Asking { problem: string; asked: number | null; ask(body: Record<string, unknown>): Promise<void> }

function use_asking(model: GroupModel): Asking {
    const [problem, set_problem] = useState(''), [asked, set_asked] = useState<number | null>(null);
    const ask = async (body: Record<string, unknown>) => {
        set_problem('');
        try {
            await send('POST', `${group_path(model.hub, model.group)}/requests`, body);
            set_asked(steady());
        } catch (error) {
            set_problem(error instanceof ApiError && error.status === 403 ? `This key may not manage. ${error.message}` : (error as Error).message);
        }
    };
    return { problem, asked, ask };
}

function Ask({ asking, done, label, danger, disabled, close, act }: {
    asking: Asking; done: boolean; label: string; danger?: boolean; disabled?: boolean; close(): void; act(): void;
}) {
    use_interval(100, asking.asked !== null && !done);
    const age = asking.asked === null ? 0 : steady() - asking.asked;
    useEffect(() => { if (done && asking.asked !== null) { const timer = setTimeout(close, 900); return () => clearTimeout(timer); } return undefined; }, [done, asking.asked]);
    const text = asking.asked === null ? label : done ? 'Done' : age > patience_ms ? 'Not taken up after 10 s' : `Asked ${duration(age)} ago`;
    return <>
        {asking.problem ? <p class="bad" role="alert">{asking.problem}</p> : null}
        <div class="row-actions"><button type="button" class={danger ? 'btn danger' : 'btn pri'} disabled={(disabled ?? false) || asking.asked !== null} onClick={act}>{text}</button>
            <button type="button" class="btn" onClick={close}>{asking.asked === null ? 'Cancel' : 'Close'}</button></div></>;
}

export function PauseDialog({ model, partition, close }: { model: GroupModel; partition: number | null; close(): void }) {
    use_model(model);
    const asking = use_asking(model);
    const held = (p: number) => ['paused', 'parked'].includes(states[model.state[p]!]!);
    const [resume] = useState(partition === null ? all_paused(model) : held(partition));
    const done = partition === null ? (resume ? model.state.every(value => value !== 3) : all_paused(model)) : held(partition) !== resume;
    const what = partition === null ? `${model.hub} / ${model.group}` : `partition ${pad(partition, model.size)}`;
    const total = partition === null ? model.in_per_s.reduce((sum, value) => sum + (value || 0), 0) : model.in_per_s[partition]! || 0;
    return <Dialog title={`${resume ? 'Resume' : 'Pause'} ${what}`} close={close}>
        <p class="muted">{resume ? 'It goes on at its checkpoint. What came meanwhile is handled in order; nothing is skipped.'
            : `What is being handled now is finished and stored; then nothing more is read. About ${count(total)} events a second wait meanwhile. Owners keep their partitions, nothing is lost before the hub's retention.`}</p>
        <Ask asking={asking} done={done} label={resume ? 'Resume' : 'Pause'} close={close}
            act={() => void asking.ask({ action: resume ? 'resume' : 'pause', ...(partition === null ? {} : { partitions: [partition] }) })} />
    </Dialog>;
}

export function DrainDialog({ model, member, close }: { model: GroupModel; member: string; close(): void }) {
    use_model(model);
    const asking = use_asking(model), [typed, set_typed] = useState('');
    const known = model.member(member), share = known?.share ?? 0, others = model.members.filter(one => one.id !== member && one.state === 'active').length;
    return <Dialog title="Drain an instance" close={close}>
        <p class="muted">{others === 0 ? 'It is the only member, so nobody can take its partitions: they stop until another joins.'
            : `${plural(share, 'partition')} of `}{others === 0 ? null : <><Name v={member} /> are finished, stored and handed over to {plural(others, 'other member')}, one by one. Only what a handler keeps beyond its checkpoint is repeated. The instance then stays without partitions until it is restarted.</>}</p>
        <label class="field-label">Type its name to confirm: <b><Name v={member} /></b><input class="input full" value={typed} onInput={event => set_typed(event.currentTarget.value)} autofocus /></label>
        <Ask asking={asking} done={asking.asked !== null && share === 0} label="Drain" danger disabled={typed !== member} close={close} act={() => void asking.ask({ action: 'drain', member })} />
    </Dialog>;
}

interface Preview { repeats: number; skips: number; partitions: { p: number; from: number | null; to: number; repeats: number; skips: number }[] }

export function SeekDialog({ model, partition, close }: { model: GroupModel; partition: number; close(): void }) {
    use_model(model);
    const asking = use_asking(model), [kind, set_kind] = useState('time'), [value, set_value] = useState(''), [typed, set_typed] = useState('');
    const [answer, set_answer] = useState<{ to: string; preview: Preview | string } | null>(null);
    const before = useRef(model.checkpoint[partition]!);
    const name = pad(partition, model.size), to = target(kind, value);
    const preview = answer?.to === to ? answer.preview : null;  // never that of another target
    useEffect(() => {
        if (to === null) return undefined;
        let current = true;
        const timer = setTimeout(() => {
            send<Preview>('POST', `${group_path(model.hub, model.group)}/requests`, { action: 'seek', partitions: [partition], to, preview: true })
                .then(found => found ?? 'The server did not say what it does.', (error: Error) => error.message).then(found => { if (current) set_answer({ to, preview: found }); });
        }, 300);
        return () => { current = false; clearTimeout(timer); };
    }, [to]);
    const said = preview === null ? 'Say where to, and you see what it repeats and skips.' : typeof preview === 'string' ? preview
        : `Repeats ${preview.repeats ? plural(preview.repeats, 'event') : 'none'}, skips ${preview.skips ? plural(preview.skips, 'event') : 'none'}.`;
    return <Dialog title={`Seek partition ${name}`} close={close}>
        <div class="row-actions"><select class="input" aria-label="Where to" value={kind} onChange={event => set_kind(event.currentTarget.value)}>
            <option value="time">a time</option><option value="seq">a sequence number</option><option value="oldest">the oldest event</option><option value="newest">the newest event</option></select>
            {kind === 'time' ? <input class="input" type="datetime-local" step="1" aria-label="Time" value={value} onInput={event => set_value(event.currentTarget.value)} /> : null}
            {kind === 'seq' ? <input class="input" inputMode="numeric" aria-label="Sequence number" value={value} onInput={event => set_value(event.currentTarget.value)} /> : null}</div>
        <p class="strong" role="status">{said}</p>
        <label class="field-label">Type {name} to confirm<input class="input full" value={typed} onInput={event => set_typed(event.currentTarget.value)} /></label>
        <Ask asking={asking} done={asking.asked !== null && model.checkpoint[partition] !== before.current} label="Seek" danger disabled={typed !== name || preview === null || typeof preview === 'string'} close={close}
            act={() => void asking.ask({ action: 'seek', partitions: [partition], to, preview: false })} />
    </Dialog>;
}

function target(kind: string, value: string): string | null {
    if (kind === 'oldest' || kind === 'newest') return kind;
    if (kind === 'seq') return /^\d+$/.test(value) ? `seq:${value}` : null;
    const at = Date.parse(value);
    return Number.isFinite(at) ? `time:${new Date(at).toISOString()}` : null;
}
