// The cables behind the table: partition to owner, and owner to checkpoint. One set of SVG elements a partition, changed in place.
//
// When an owner or a port changes, the cable's end travels to its new port; its colour changes half-way. More than
// `travel_max` new owners at once do not travel: the whole picture cross-fades.
import { steady } from '../clock';
import { type GroupModel, states } from '../model/group';
import { colour, reduced_motion, set_attribute, set_class, svg } from './dom';
import { cable, type Layout, port, row_middle } from './layout';
import { step_of } from './rows';

const travel_ms = 700, travel_max = 20;

interface Line {
    main: SVGPathElement; next: SVGPathElement; right: SVGPathElement; dot: SVGCircleElement; tick: SVGPathElement;
    from: number; to: number; at: number; started: number;  // height of the cable's end: where it was, where it goes, where it is
    colour: string; old_colour: string; owner: string | null; next_y: number;
}

const ease = (t: number): number => 1 - (1 - t) ** 3;

export class Cables {
    readonly root = svg('svg', { class: 'cables', 'aria-hidden': 'true', focusable: 'false' });
    private lines: Line[] = [];
    private grid = svg('g', { class: 'scale' });
    private frame = 0;
    private place: Layout | null = null;

    constructor() {
        this.root.append(this.grid);
    }

    resize(place: Layout, partitions: number): void {
        this.place = place;
        set_attribute(this.root, 'width', String(place.width));
        set_attribute(this.root, 'height', String(place.height));
        while (this.lines.length > partitions) {
            const line = this.lines.pop()!;
            for (const part of [line.main, line.next, line.right, line.dot, line.tick]) part.remove();
        }
        while (this.lines.length < partitions) {
            const line: Line = {
                main: svg('path', { class: 'cable' }), next: svg('path', { class: 'cable' }), right: svg('path', { class: 'cable thin' }),
                dot: svg('circle', { r: 3 }), tick: svg('path', { 'stroke-width': 3 }),
                from: Number.NaN, to: Number.NaN, at: Number.NaN, started: -Infinity, colour: '', old_colour: '', owner: null, next_y: Number.NaN,
            };
            this.lines.push(line);
            this.root.append(line.right, line.next, line.main, line.dot, line.tick);
        }
    }

    scale(ticks: number[]): void {
        const place = this.place!;
        this.grid.replaceChildren(...ticks.map(x => svg('line', { x1: x, x2: x, y1: place.top - 6, y2: place.height - 4 })));
    }

    // Redraws every cable from the model. Returns the partitions whose owner changed.
    update(model: GroupModel, chosen: number | null): number[] {
        const place = this.place!, ports = this.ports(model), moved: number[] = [], now = steady();
        for (let p = 0; p < model.size; ++p) {
            const owner = model.owner_of(p), line = this.lines[p]!;
            if (line.owner !== owner && !Number.isNaN(line.to)) moved.push(p);
        }
        const travel = moved.length <= travel_max && !reduced_motion();
        if (moved.length > travel_max && !reduced_motion()) {
            this.root.classList.remove('fade');
            void this.root.getBoundingClientRect();
            this.root.classList.add('fade');
        }
        for (let p = 0; p < model.size; ++p) this.target(model, p, ports, place, travel, now);
        for (let p = 0; p < model.size; ++p) this.dress(model, p, chosen);
        this.draw(model, now);
        return moved;
    }

    private ports(model: GroupModel): (id: string, p: number) => number {
        const places = new Map<string, number>();
        const blocks = new Map(model.members.map((member, i) => [member.id, this.place!.blocks[i]!]));
        const entering = new Map<string, number[]>();
        for (let p = 0; p < model.size; ++p) {
            const owner = model.owner_of(p), next = model.next_of(p);
            for (const id of new Set([owner, next])) if (id !== null) entering.set(id, [...entering.get(id) ?? [], p]);
        }
        for (const [id, partitions] of entering) {
            const block = blocks.get(id);
            if (block) partitions.forEach((p, i) => places.set(`${p} ${id}`, port(block, i, partitions.length)));
        }
        return (id, p) => places.get(`${p} ${id}`) ?? Number.NaN;
    }

    private target(model: GroupModel, p: number, ports: (id: string, p: number) => number, place: Layout, travel: boolean, now: number): void {
        const line = this.lines[p]!, owner = model.owner_of(p), next = model.next_of(p);
        const to = owner === null ? Number.NaN : ports(owner, p);
        const tone = model.orphaned(p) ? 'var(--orphan)' : colour(model.marks.of(owner));
        if (to !== line.to || tone !== line.colour) {
            // A cable that comes from nobody grows out of its own row.
            line.from = Number.isNaN(line.at) ? row_middle(place, p) : line.at;
            line.old_colour = line.colour || tone;
            line.started = travel && line.colour !== '' && !Number.isNaN(to) ? now : -Infinity;
            line.to = to;
            line.colour = tone;
        }
        line.owner = owner;
        line.next_y = next === null ? Number.NaN : ports(next, p);
    }

    // Widths, dashes and opacity: by state and rate.
    private dress(model: GroupModel, p: number, chosen: number | null): void {
        const line = this.lines[p]!, state = states[model.state[p]!]!, orphan = model.orphaned(p), step = step_of(model, p);
        const dim = chosen !== null && chosen !== p ? 'dim' : '';
        const held = state === 'parked' || state === 'paused' ? 'held' : '';
        set_class(line.main, `cable ${orphan ? 'orphan' : ''} ${held} ${step >= 2 ? 'fading' : ''} ${dim}`);
        set_class(line.next, `cable next ${dim}`);
        set_class(line.right, `cable thin ${orphan ? 'orphan' : ''} ${dim}`);
        const width = orphan ? 1.4 : step >= 0 ? 2 : 1.2 + Math.min(2.6, (model.in_per_s[p]! || 0) / 420);
        set_attribute(line.main, 'stroke-width', width.toFixed(1));
        set_attribute(line.next, 'stroke', colour(model.marks.of(model.next_of(p))));
    }

    private draw(model: GroupModel, now: number): void {
        const place = this.place!, x1 = place.bar_right + 4;
        let moving = false;
        this.lines.forEach((line, p) => {
            const y = row_middle(place, p), part = Math.min(1, (now - line.started) / travel_ms);
            if (part < 1) moving = true;
            const none = Number.isNaN(line.to);
            line.at = none ? Number.NaN : part < 1 ? line.from + (line.to - line.from) * ease(part) : line.to;
            const tone = part < 0.5 ? line.old_colour : line.colour;
            set_attribute(line.main, 'd', none ? '' : cable(x1, y, place.owner_left - 1, line.at));
            set_attribute(line.right, 'd', none ? '' : cable(place.owner_right + 1, line.at, place.checkpoint, y));
            set_attribute(line.next, 'd', Number.isNaN(line.next_y) ? '' : cable(x1, y, place.owner_left - 1, line.next_y));
            set_attribute(line.main, 'stroke', tone);
            set_attribute(line.right, 'stroke', tone);
            set_attribute(line.dot, 'cx', String(x1 + 1));
            set_attribute(line.dot, 'cy', String(y));
            set_attribute(line.dot, 'fill', tone);
            set_attribute(line.tick, 'd', `M${place.checkpoint + 1} ${y - 5}v10`);
            set_attribute(line.tick, 'stroke', tone);
        });
        cancelAnimationFrame(this.frame);
        if (moving) this.frame = requestAnimationFrame(() => this.draw(model, steady()));
    }

    stop(): void {
        cancelAnimationFrame(this.frame);
    }
}
