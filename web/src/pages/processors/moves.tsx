// Moves: what is under way on top, then the journal, newest first.
import { in_short } from '../../model/reason';
import { useRef, useState } from 'preact/hooks';
import { count, duration, moment, pad, unknown } from '../../formats';
import { server_now, steady } from '../../clock';
import { type GroupModel, nobody, phases } from '../../model/group';
import { Badge, Time } from '../../parts/basics';
import { cut } from '../../formats';
import { stripes_ms } from '../../picture/stripes';

export function Owner({ model, id, gone }: { model: GroupModel; id: string | null; gone?: boolean }) {
    return id === null ? <span class="faint">nobody</span> : <Badge mark={model.marks.of(id)} id={id} gone={gone ?? false} />;
}

interface Running { key: string; at: number | null; partitions: string; from: string | null; gone: boolean; to: string | null; why: string; gap: string; repeated: string }

function running(model: GroupModel): Running[] {
    const rows: Running[] = [], now = server_now();
    for (const member of model.members) {
        if (member.state !== 'silent') continue;
        const mine: number[] = [], index = model.id_index(member.id);
        let bound = 0;
        for (let p = 0; p < model.size; ++p) if (model.owner[p] === index) { mine.push(p); bound += model.repeats[p]! || 0; }
        const age = model.silent_ms(member);
        if (mine.length === 0 || age === null) continue;
        rows.push({
            key: `silent ${member.id}`, at: now - age, partitions: pad(mine[0]!, model.size) + (mine.length > 1 ? ` + ${mine.length - 1}` : ''), from: member.id, gone: true, to: null,
            why: 'silent since then', gap: `${duration(age)} so far`, repeated: bound ? `≤ ${count(bound)}` : unknown,
        });
    }
    for (let p = 0; p < model.size && rows.length < 6; ++p) {
        const phase = phases[model.phase[p]!]!;
        if (phase === 'owned' || model.next[p] === nobody || model.orphaned(p)) continue;
        const letters = model.marks.of(model.next_of(p))?.letters ?? '';
        const why = { offered: 'offered, goes on until taken up', draining: 'draining, then stored', stored: `stored, ${letters} begins`, free: `free, ${letters} begins`, owned: '' }[phase];
        rows.push({ key: `phase ${p}`, at: now - (steady() - model.phase_seen[p]!), partitions: pad(p, model.size), from: model.owner_of(p), gone: false, to: model.next_of(p), why, gap: unknown, repeated: unknown });
    }
    return rows;
}

export function Moves({ model, narrow, short, live }: { model: GroupModel; narrow: boolean; short: boolean; live: boolean }) {
    const [all, set_all] = useState(false), started = useRef(steady());
    const now = server_now(), open = live ? running(model) : [];
    const recent = model.moves.filter(move => now - (moment(move.at) ?? 0) < stripes_ms).length;
    const shown = model.moves.slice(0, all ? undefined : Math.max(1, 6 - open.length));
    const fresh = (at: string) => now - (moment(at) ?? 0) < 3000 && steady() - started.current > 1000;
    const exact = open.length > 0 && !narrow;
    return <div class="moves">
        <h2>Moves <span class="faint">{recent ? `${recent} in the last 10 min` : 'none in the last 10 min'}</span></h2>
        <div class="scrollx"><table><thead><tr><th scope="col">Time</th><th scope="col">{narrow ? 'P.' : 'Partition'}</th><th scope="col">From, to</th><th scope="col">Why</th><th scope="col" class="r">Gap</th><th scope="col" class="r">{narrow ? 'Rep.' : 'Repeated'}</th></tr></thead><tbody>
            {open.map(row => <tr key={row.key} class="flash"><td class="mono"><Time v={row.at} exact={exact && row.at !== null && now - row.at < 60_000 && !row.gone} /></td><td class="mono">{row.partitions}</td>
                <td><Owner model={model} id={row.from} gone={row.gone} /> <span class="faint">→</span> {row.to === null ? <span class="faint">next</span> : <Owner model={model} id={row.to} />}</td>
                <td>{row.why}</td><td class="r">{row.gap}</td><td class="r">{row.repeated}</td></tr>)}
            {shown.map(move => <tr key={`${move.at} ${move.p}`} class={fresh(move.at) ? 'flash new' : ''}><td class="mono muted"><Time v={move.at} exact={exact && now - (moment(move.at) ?? 0) < 60_000} /></td><td class="mono">{pad(move.p, model.size)}</td>
                <td><Owner model={model} id={move.from} /> <span class="faint">→</span> <Owner model={model} id={move.to} /></td>
                <td class="muted why" title={move.reason}><bdi>{cut(short ? in_short(move.reason).replace(/^(handed over|released|taken over): /, '') : in_short(move.reason), 60)}</bdi></td><td class="r">{duration(move.gap_ms, 'move')}</td><td class="r">{count(move.repeated)}</td></tr>)}
            {open.length + shown.length === 0 ? <tr><td colSpan={6} class="muted">No move is in the journal yet.</td></tr> : null}
        </tbody></table></div>
        {model.moves.length > shown.length ? <button type="button" class="linkbutton" onClick={() => set_all(true)}>Show all {model.moves.length}</button> : null}
    </div>;
}
