// Who owned what over the last ten minutes: one line a partition, made from the journal of moves and the present owner.
import { hour_minute, moment, pad } from '../formats';
import type { GroupModel } from '../model/group';
import { colour, element, svg } from './dom';

export const stripes_ms = 600_000;

export interface Span { from: number; to: number; owner: string | null }

// The owners of partition `p` between `start` and `now`, oldest first. Pure.
export function spans(model: Pick<GroupModel, 'moves' | 'owner_of' | 'orphaned' | 'owned_since'> & { silent_since: (p: number) => number | null }, p: number, start: number, now: number): Span[] {
    const found: Span[] = [];
    let to = now, owner = model.owner_of(p);
    const silent = model.silent_since(p);
    if (silent !== null && silent < to) { found.unshift({ from: Math.max(start, silent), to, owner: null }); to = silent; }
    for (const move of model.moves) {
        if (move.p !== p || to <= start) continue;
        const at = moment(move.at);
        if (at === null || at > to) continue;
        found.unshift({ from: Math.max(start, at), to, owner });
        const gap = Math.max(0, move.gap_ms ?? 0);
        to = at;
        if (gap > 1000) { found.unshift({ from: Math.max(start, at - gap), to: at, owner: null }); to = at - gap; }
        owner = move.from;
        if (owner === null) return found.filter(span => span.to > span.from);  // what was before is not known
    }
    if (to > start) {
        // Without a move the present owner's own start is the oldest that is known.
        const since = found.length === 0 || found.every(span => span.owner === null) ? moment(model.owned_since[p] ?? null) : null;
        found.unshift({ from: Math.max(start, since ?? start), to, owner });
    }
    return found.filter(span => span.to > span.from);
}

export class Stripes {
    readonly root = element('div', 'stripes');

    constructor(private readonly model: GroupModel) {
        this.root.setAttribute('role', 'img');
    }

    paint(width: number, now: number): void {
        const model = this.model, left = 26, start = now - stripes_ms;
        const pitch = model.size <= 24 ? 10 : model.size <= 40 ? 7 : 5, thick = Math.max(2, Math.min(4, pitch - 2));
        const height = 4 + model.size * pitch + 20;
        const picture = svg('svg', { width, height, 'aria-hidden': 'true' });
        const x = (at: number) => left + (at - start) / stripes_ms * (width - left);
        const silent_since = (p: number) => {
            const member = model.orphaned(p) ? model.member(model.owner_of(p) ?? '') : undefined;
            const age = member ? model.silent_ms(member) : null;
            return age === null ? null : now - age;
        };
        const view = { moves: model.moves, owner_of: (p: number) => model.owner_of(p), orphaned: (p: number) => model.orphaned(p), owned_since: model.owned_since, silent_since };
        for (let p = 0; p < model.size; ++p) {
            const y = 4 + p * pitch;
            if (p % 5 === 0 || p === model.size - 1) {
                const label = svg('text', { x: 0, y: y + 6, class: 'axis mono' });
                label.textContent = pad(p, model.size);
                if (p % 5 === 0 || (p % 5) * pitch >= 12) picture.append(label);
            }
            for (const span of spans(view, p, start, now)) {
                const mark = model.marks.of(span.owner);
                picture.append(svg('rect', {
                    x: (x(span.from) + 0.5).toFixed(1), y, width: Math.max(1, x(span.to) - x(span.from) - 1).toFixed(1), height: thick, rx: 1,
                    fill: mark ? colour(mark) : 'var(--orphan)', class: mark ? `stripe ${mark.pattern}` : 'stripe nobody',
                }));
            }
        }
        this.marks(picture, x, start, height);
        for (let at = Math.ceil(start / 120_000) * 120_000; at < now - 50_000; at += width < 260 ? 480_000 : width < 340 ? 240_000 : 120_000)
            picture.append(this.axis(x(at), height - 4, hour_minute(at), x(at) < left + 20 ? 'start' : 'middle'));
        picture.append(this.axis(width, height - 4, 'now', 'end'));
        this.root.replaceChildren(picture);
        const recent = model.moves.filter(move => (moment(move.at) ?? 0) > start).length;
        this.root.setAttribute('aria-label', `Who owned what in the last 10 minutes: ${recent} moves. The table of moves says each.`);
    }

    private axis(x: number, y: number, text: string, anchor: string): SVGTextElement {
        const label = svg('text', { x: x.toFixed(1), y, class: 'axis', 'text-anchor': anchor });
        label.textContent = text;
        return label;
    }

    // A dashed line where several partitions moved at about the same time.
    private marks(picture: SVGSVGElement, x: (at: number) => number, start: number, height: number): void {
        let last = Infinity;
        for (const move of this.model.moves) {
            const at = moment(move.at) ?? 0;
            if (at < start) break;
            if (last - at < 15_000) continue;
            last = at;
            picture.append(svg('path', { d: `M${x(at).toFixed(1)} 0V${height - 16}`, class: 'mark' }));
        }
    }
}
