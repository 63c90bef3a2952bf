// The same facts as a plain table, for every size of group.
import { Component } from 'preact';
import { ago, count, duration, pad, rate, time, unknown } from '../../formats';
import { server_now } from '../../clock';
import { type GroupModel, phases, states } from '../../model/group';
import { Badge, Name } from '../../parts/basics';
import { signs } from '../../picture/rows';
import { open_partition } from '../processors';

interface RowProps { model: GroupModel; p: number; chosen: boolean; text: string }

function facts(model: GroupModel, p: number, live: boolean): string[] {
    const stored = Number.isNaN(model.checkpoint[p]!) ? Number.NaN : model.stored_age(p), bound = model.repeats[p]!;
    return [rate(model.in_per_s[p]), duration(model.behind[p]), count(model.lag[p]), count(model.epoch[p]), count(model.checkpoint[p]),
        live ? ago(stored) : Number.isNaN(stored) ? unknown : time(server_now() - stored, server_now()),
        Number.isNaN(bound) ? unknown : bound === 0 ? '0' : `≤ ${count(bound)}`, duration(model.loss[p]! * 1000, 'left')];
}

function standing(model: GroupModel, p: number): { text: string; tone: string } {
    const state = states[model.state[p]!]!;
    if (model.lost[p]! > 0) return { text: `! lost ${count(model.lost[p])}`, tone: 'bad' };
    if (state !== 'ok') return { text: `${signs[state]} ${state}`, tone: state === 'stalled' ? 'bad' : 'warn' };
    if (model.orphaned(p)) return { text: 'orphaned', tone: 'warn' };
    if (!Number.isNaN(model.reader_epoch[p]!) && model.reader_epoch[p] !== model.epoch[p]) return { text: 'owner and reader differ', tone: 'warn' };
    const next = model.next_of(p), phase = phases[model.phase[p]!]!;
    return next !== null && phase !== 'owned' ? { text: `${phase} → ${model.marks.of(next)?.letters ?? ''}`, tone: '' } : { text: 'owned', tone: 'muted' };
}

// Draws again only when one of its texts differs: a thousand rows are looked at every second.
class TableRow extends Component<RowProps> {
    override shouldComponentUpdate(next: RowProps): boolean {
        return next.text !== this.props.text || next.chosen !== this.props.chosen;
    }

    override render({ model, p, chosen, text }: RowProps) {
        const [in_rate, behind, lag, epoch, checkpoint, stored, repeats, loss] = text.split('\n');
        const id = model.owner_of(p), now = standing(model, p);
        return <tr class={chosen ? 'sel' : ''}>
            <th scope="row" class="mono strong"><button type="button" class="idbutton" onClick={() => open_partition(p)}>{pad(p, model.size)}</button></th>
            <td>{id === null ? <span class="faint">nobody</span> : <><Badge mark={model.marks.of(id)} gone={model.orphaned(p)} /> <Name v={id} most={20} /></>}</td>
            <td class={now.tone}>{now.text}</td><td class="r">{in_rate}</td><td class="r">{behind}</td><td class="r">{lag}</td><td class="r muted">{epoch}</td>
            <td class="r mono">{checkpoint}</td><td class="r muted">{stored}</td><td class="r muted">{repeats}</td><td class="r">{loss}</td></tr>;
    }
}

export function PartitionTable({ model, chosen, live }: { model: GroupModel; chosen: number | null; live: boolean }) {
    return <div class="scrollx"><table class="partitions"><caption class="hidden">Partitions, owners and checkpoints</caption>
        <thead><tr><th scope="col">Partition</th><th scope="col">Owner</th><th scope="col">State</th><th scope="col" class="r">In</th><th scope="col" class="r">Behind</th><th scope="col" class="r">Events</th><th scope="col" class="r">Epoch</th><th scope="col" class="r">Checkpoint</th><th scope="col" class="r">Stored</th><th scope="col" class="r">Crash repeats</th><th scope="col" class="r">Loss in</th></tr></thead>
        <tbody>{Array.from({ length: model.size }, (_, p) => {
            const text = [...facts(model, p, live), model.owner_of(p), standing(model, p).text].join('\n');
            return <TableRow key={p} model={model} p={p} chosen={p === chosen} text={text} />;
        })}</tbody></table></div>;
}
