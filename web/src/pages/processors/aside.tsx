// Beside the grid: what needs somebody, how far behind everyone is, moves by cause, and how to read the grid.
import { duration, moment, pad } from '../../formats';
import { server_now } from '../../clock';
import type { GroupModel } from '../../model/group';
import { in_short } from '../../model/reason';
import { troubles } from '../../model/verdict';
import { Kbd, Name, Time } from '../../parts/basics';
import { open_partition } from '../processors';

const steps: [number, string][] = [[200, '0.1 s'], [700, ''], [2000, '1 s'], [5000, ''], [20_000, '10 s'], [60_000, ''], [600_000, '1 min'], [Infinity, '10 min']];

// Moves that came close together for one reason are one line.
function causes(model: GroupModel): { at: string; text: string; moves: number; bad: boolean }[] {
    const found: { at: string; text: string; moves: number; bad: boolean }[] = [];
    for (const member of model.members) if (member.state === 'silent')
        found.push({ at: new Date(server_now() - (model.silent_ms(member) ?? 0)).toISOString(), text: `${member.id} silent`, moves: member.share, bad: true });
    for (const move of model.moves) {
        const text = in_short(move.reason).replace(/^[a-z ]+: /, ''), last = found.at(-1);
        if (last && !last.bad && last.text === text && Math.abs((moment(last.at) ?? 0) - (moment(move.at) ?? 0)) < 60_000) ++last.moves;
        else found.push({ at: move.at, text, moves: 1, bad: false });
    }
    return found.slice(0, 6);
}

function Histogram({ model }: { model: GroupModel }) {
    const counts = steps.map(() => 0);
    for (let p = 0; p < model.size; ++p) { const behind = model.behind[p]!; if (!Number.isNaN(behind)) ++counts[steps.findIndex(([top]) => behind < top)]!; }
    const most = Math.max(1, ...counts), width = 29.5;
    return <svg class="histogram" width={236} height={96} role="img" aria-label={`How far behind: ${counts.map((n, i) => `${n} ${i ? `from ${duration(steps[i - 1]![0])}` : 'nearly none'}`).join(', ')}`}>
        {counts.map((n, i) => {
            const height = Math.sqrt(n / most) * 58;
            return <><rect x={i * width} y={76 - height} width={27} height={height} class={i > 5 ? 'late' : ''} />
                <text x={i * width + 13} y={72 - height} text-anchor="middle">{n || ''}</text><text x={i < steps.length - 1 ? i * width : 236} y={92} text-anchor={i < steps.length - 1 ? 'start' : 'end'}>{steps[i]![1]}</text></>;
        })}</svg>;
}

export function Aside({ model }: { model: GroupModel }) {
    const need = troubles(model);
    return <div class="gridside">
        {need.length ? <><h2>Need you</h2><ul class="needlist">{need.slice(0, 8).map(one => <li><button type="button" onClick={() => open_partition(one.p)}>
            <span class="mono strong">{pad(one.p, model.size)}</span><span class={`${one.tone} medium`}>{{ stalled: '✕ stalled', parked: '■ parked', lost: '! lost events', loss: '! loss soon', ownerless: '! no owner' }[one.kind]}</span>
            <span>{duration(model.behind[one.p])}</span></button></li>)}</ul>{need.length > 8 ? <p class="muted">{need.length - 8} more. <Kbd>N</Kbd> goes through them.</p> : null}</> : null}
        <h2>How far behind <span class="faint">{model.size.toLocaleString('en-US')} partitions</span></h2>
        <Histogram model={model} />
        <h2>Moves</h2>
        <div class="causelist">{causes(model).map(one => <><span class="mono"><Time v={one.at} /></span><span class={one.bad ? 'bad' : ''}><Name v={one.text} /></span><span>{one.moves}</span></>)}
            {model.moves.length === 0 ? <span class="muted all">None is in the journal yet.</span> : null}</div>
        <h2>Reading the grid</h2>
        <p class="muted">One row is one owner. An even right edge means an even share. Stripes: nobody reads. Enter opens a partition, <Kbd>N</Kbd> goes to the next problem.</p>
    </div>;
}
