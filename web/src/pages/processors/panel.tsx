// One partition: what is wrong, why it is where it is, its figures, its last moves, and what can be done.
import { useEffect, useState } from 'preact/hooks';
import { count, duration, moment, pad, plural, unknown } from '../../formats';
import { server_now } from '../../clock';
import { get, group_path } from '../../api/client';
import { type GroupModel, states } from '../../model/group';
import { in_short } from '../../model/reason';
import { Badge, Name, Panel, Text, Time } from '../../parts/basics';
import { address, go_query } from '../../route';
import { state } from '../../state';
import { DrainDialog, PauseDialog, SeekDialog } from './actions';
import { Owner } from './moves';

function Trouble({ model, p }: { model: GroupModel; p: number }) {
    const kind = states[model.state[p]!]!, since = moment(model.since[p]), owner = model.owner_of(p);
    const age = since === null ? '' : ` for ${duration(server_now() - since)}`;
    if (model.lost[p]! > 0) return <p class="bad strong">{plural(model.lost[p]!, 'event')} were lost. <span class="muted">Retention took them before they were handled: {count(model.checkpoint[p]! + 1)} to {count(model.begin[p]! - 1)}.</span></p>;
    if (kind === 'ok' && model.orphaned(p)) return <p class="bad strong">{owner === null ? 'Nobody owns it.' : <><Name v={owner} /> is silent.</>} <span class="muted">Nobody reads it until an owner takes it up.</span></p>;
    if (kind === 'ok') return null;
    const cause = model.cause[p];
    const words = { stalled: `Stalled${age}.`, parked: `Parked${age}.`, paused: `Paused${age}.`, ok: '' }[kind];
    return <>
        <p class={`${kind === 'stalled' ? 'bad' : 'warn'} strong`}>{words}{cause ? <> <Text v={cause} /></> : null}</p>
        <p class="muted">{plural(model.lag[p]! || 0, 'event')} {model.lag[p] === 1 ? 'waits' : 'wait'} behind it. {owner && kind !== 'paused' ? <>The other partitions of <Name v={owner} /> are not held up.</> : null}</p>
    </>;
}

// The server's sentences, asked for again when what they are about changes.
function use_sentences(model: GroupModel, p: number): string[] {
    const [said, set_said] = useState<string[]>([]);
    const move = model.moves.find(one => one.p === p), shares = model.members.map(member => member.share).sort((a, b) => a - b);
    const about = JSON.stringify([p, model.owner_of(p), model.next_of(p), model.state[p], model.phase[p], model.orphaned(p), move, shares]);
    useEffect(() => {
        let current = true;
        get<{ sentences: string[] }>(`${group_path(model.hub, model.group)}/explain?p=${p}`)
            .then(answer => { if (current) set_said(answer.sentences); }, (error: Error) => { if (current) set_said([error.message]); });
        return () => { current = false; };
    }, [about]);
    return said;
}

function Figures({ model, p }: { model: GroupModel; p: number }) {
    const cell = (name: string, value: string, mono = false) => <><dt>{name}</dt><dd class={mono ? 'mono' : ''}>{value}</dd></>;
    const none = Number.isNaN(model.checkpoint[p]!), bound = model.repeats[p]!;
    const differ = !Number.isNaN(model.reader_epoch[p]!) && !Number.isNaN(model.epoch[p]!) && model.reader_epoch[p] !== model.epoch[p];
    return <><dl>
        {cell('Newest event', model.end[p]! < 0 ? 'none yet' : count(model.end[p]), true)}
        {cell('Checkpoint', none ? 'none yet' : count(model.checkpoint[p]), true)}
        {cell('Stored', none ? unknown : `${duration(model.stored_age(p))} ago`)}
        {cell('Behind', `${Number.isNaN(model.lag[p]!) ? unknown : plural(model.lag[p]!, 'event')}, ${duration(model.behind[p])}`)}
        {cell('In', `${count(model.in_per_s[p])}/s`)}
        {cell('A crash repeats at most', Number.isNaN(bound) ? unknown : plural(bound, 'event'))}
        {cell('Loss at the earliest in', duration(model.loss[p]! * 1000, 'left'))}
        {cell('Epoch', count(model.epoch[p]), true)}
    </dl>
    {none ? <p class="muted">No checkpoint yet. Starts at the first event.</p> : null}
    {differ ? <p class="warn">Owner and reader differ: the hub's reader has epoch {count(model.reader_epoch[p])}.</p> : null}</>;
}

export function PartitionPanel({ model, p, live }: { model: GroupModel; p: number; live: boolean }) {
    const [dialog, set_dialog] = useState<'pause' | 'drain' | 'seek' | null>(null);
    const said = use_sentences(model, p), owner = model.owner_of(p), name = pad(p, model.size);
    const moves = model.moves.filter(move => move.p === p).slice(0, 6), manage = state.may('Manage');
    const from = Number.isNaN(model.checkpoint[p]!) ? 'oldest' : `seq:${model.checkpoint[p]! + 1}`;
    const close = () => set_dialog(null), paused = states[model.state[p]!] === 'paused' || states[model.state[p]!] === 'parked';
    return <Panel label={`Partition ${name}`} title={`Partition ${name}`} close={() => go_query({ p: null })} actions={<>
        <a class="btn pri" href={address('events', model.hub, null, { from, p: String(p) })}>Look at the events</a>
        {manage && live ? <>
            {owner !== null ? <button type="button" class="btn" onClick={() => set_dialog('drain')}><span>Drain <Name v={owner} most={14} />…</span></button> : null}
            <button type="button" class="btn" onClick={() => set_dialog('pause')}>{paused ? 'Resume…' : 'Pause…'}</button>
            <button type="button" class="btn" onClick={() => set_dialog('seek')}>Seek…</button></> : null}</>}>
        <Trouble model={model} p={p} />
        <h3>Why is it here?</h3>
        {owner !== null ? <p class="ownerline"><Badge mark={model.marks.of(owner)} gone={model.orphaned(p)} /> <Name v={owner} class="strong" />{model.owned_since[p] ? <> owns it since <Time v={model.owned_since[p]} />, epoch {count(model.epoch[p])}.</> : `, epoch ${count(model.epoch[p])}.`}</p> : null}
        {said.map(sentence => <p class="muted"><Text v={sentence} /></p>)}
        <h3>Figures</h3>
        <Figures model={model} p={p} />
        <h3>Last moves</h3>
        {moves.length ? <div class="movelist">{moves.map(move => <><span class="mono muted"><Time v={move.at} /></span>
            <span><Owner model={model} id={move.from} /> → <Owner model={model} id={move.to} /></span><span class="muted ellipsis" title={move.reason}><Text v={in_short(move.reason).split(':')[0]!} /></span><span>{duration(move.gap_ms, 'move')}</span></>)}</div>
            : <p class="muted">None is in the journal.</p>}
        {manage ? null : <p class="muted quiet">Your key may look, not change.</p>}
        {dialog === 'pause' ? <PauseDialog model={model} partition={p} close={close} /> : null}
        {dialog === 'drain' && owner !== null ? <DrainDialog model={model} member={owner} close={close} /> : null}
        {dialog === 'seek' ? <SeekDialog model={model} partition={p} close={close} /> : null}
    </Panel>;
}
