// The picture where there is no room for cables: the grid by owner, with cells large enough for a finger.
import { duration, lag_position, pad, plural, rate } from '../../formats';
import { type GroupModel, nobody, states } from '../../model/group';
import { troubles } from '../../model/verdict';
import { Badge, Name } from '../../parts/basics';
import { colour_class } from '../../picture/dom';
import { signs, summary } from '../../picture/rows';
import { open_partition } from '../processors';

function Cells({ model, partitions, orphan, colours, chosen }: { model: GroupModel; partitions: number[]; orphan: boolean; colours: string; chosen: number | null }) {
    return <div class="cells">{partitions.map(p => {
        const state = states[model.state[p]!]!, height = Math.max(3, lag_position(model.behind[p]) * 36);
        const tone = state === 'stalled' ? 'bad' : state === 'ok' ? '' : 'warn';
        return <button type="button" class={`cell ${tone} ${p === chosen ? 'chosen' : ''}`} aria-label={summary(model, p)} onClick={() => open_partition(p)}>
            <span class={`box ${orphan ? 'o0' : colours} ${tone}`}>{state === 'ok' ? <span class="level" style={{ height: `${height}px` }} /> : <span class="sign">{signs[state]}</span>}</span>
            <span class="mono">{pad(p, model.size)}</span></button>;
    })}</div>;
}

export function Phone({ model, chosen }: { model: GroupModel; chosen: number | null }) {
    const of = (index: number) => Array.from({ length: model.size }, (_, p) => p).filter(p => model.owner[p] === index);
    const free = of(nobody);
    return <div class="phone">
        <ul class="needlist large">{troubles(model).map(one => <li><button type="button" onClick={() => open_partition(one.p)}>
            <span><span class={`${one.tone} strong`}>{signs[one.kind] ?? '!'} {pad(one.p, model.size)} {one.kind}</span></span><span>{duration(model.behind[one.p])}</span></button></li>)}</ul>
        {model.members.map(member => {
            const mark = model.marks.of(member.id), silent = member.state === 'silent';
            return <section class="phoneowner"><h2><Badge mark={mark} gone={silent} id={member.id} /><Name v={member.id} />
                <span class={silent ? 'bad' : 'muted'}>{silent ? `silent for ${duration(model.silent_ms(member))}` : `${plural(member.share, 'partition')} · ${rate(member.in_per_s)}`}</span></h2>
                <Cells model={model} partitions={of(model.id_index(member.id))} orphan={silent} colours={colour_class(mark)} chosen={chosen} /></section>;
        })}
        {free.length ? <section class="phoneowner"><h2><span class="faint">nobody</span></h2><Cells model={model} partitions={free} orphan colours="o0" chosen={chosen} /></section> : null}
    </div>;
}
