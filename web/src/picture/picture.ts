// The picture of a group: partitions, their owners, their checkpoints. A real table over an SVG of cables; no virtual DOM inside.
//
// `paint` is called when the model changed; it touches only what differs. `tick` repaints what counts on by itself.
import { lag_position } from '../formats';
import type { GroupModel } from '../model/group';
import { Blocks } from './blocks';
import { Cables } from './cables';
import { element, set_text } from './dom';
import { layout, type Layout } from './layout';
import { Row } from './rows';

const scale: [number, string][] = [[1000, '1 s'], [10_000, '10 s'], [60_000, '1 min'], [600_000, '10 min'], [3_600_000, '1 h']];

export class Picture {
    readonly root = element('div', 'picture');
    private table = element('table', 'rows');
    private caption = element('caption', 'hidden');
    private head = element('thead');
    private body = element('tbody');
    private labels = element('div', 'labels');
    private cables = new Cables();
    private blocks = new Blocks();
    private rows: Row[] = [];
    private place: Layout | null = null;
    private shape = -1;
    private chosen: number | null = null;

    constructor(private readonly model: GroupModel, open: (partition: number) => void) {
        this.table.setAttribute('role', 'table');
        this.body.setAttribute('role', 'rowgroup');
        this.labels.setAttribute('aria-hidden', 'true');
        const line = element('tr', 'hidden');
        for (const name of ['Partition', 'In', 'Behind', '', 'Owner', 'Checkpoint', 'Stored', 'Crash repeats']) {
            const cell = element('th', '', name);
            cell.scope = 'col';
            cell.setAttribute('role', 'columnheader');
            line.append(cell);
        }
        line.setAttribute('role', 'row');
        this.head.append(line);
        this.head.setAttribute('role', 'rowgroup');
        this.table.append(this.caption, this.head, this.body);
        this.root.append(this.cables.root, this.labels, this.blocks.root, this.table);
        this.root.addEventListener('click', event => {
            const row = (event.target as Element).closest<HTMLElement>('[data-partition]');
            if (row) open(Number(row.dataset['partition']));
        });
    }

    // Draws what changed. `width` is the room there is; `live` is false when ages must not count on.
    paint(width: number, live: boolean, chosen: number | null, verdict: string): void {
        const model = this.model, coarse = matchMedia('(pointer: coarse)').matches;
        const place = this.place;
        const fresh = !place || place.width !== width || this.rows.length !== model.size || place.blocks.length !== model.members.length;
        if (fresh) this.arrange(layout(width, innerHeight, model.size, model.members.length, coarse));
        set_text(this.caption, verdict);
        if (fresh || this.shape !== model.shape || this.chosen !== chosen) {
            const moved = this.cables.update(model, chosen);
            if (this.shape >= 0) for (const p of moved) if (model.owner_of(p) !== null && !model.orphaned(p)) this.rows[p]!.arrived();
            this.shape = model.shape;
            this.chosen = chosen;
            for (const row of this.rows) row.paint(model, this.place!, live, row.p === chosen);
            model.take_dirty(() => undefined);
        } else model.take_dirty(p => this.rows[p]?.paint(model, this.place!, live, p === chosen));
        this.blocks.paint(model, this.place!, live);
    }

    // What counts on by itself: ages and countdowns.
    tick(live: boolean): void {
        if (!this.place) return;
        for (const row of this.rows) row.paint(this.model, this.place, live, row.p === this.chosen);
        this.blocks.paint(this.model, this.place, live);
    }

    stop(): void {
        this.cables.stop();
    }

    focus(partition: number): void {
        this.rows[partition]?.line.querySelector('button')?.focus();
    }

    private arrange(place: Layout): void {
        this.place = place;
        while (this.rows.length > this.model.size) this.rows.pop()!.line.remove();
        while (this.rows.length < this.model.size) {
            const row = new Row(this.rows.length, this.model.size);
            this.rows.push(row);
            this.body.append(row.line);
        }
        this.root.classList.toggle('compact', place.compact);
        this.root.classList.toggle('tight', place.tight);
        const style = this.root.style;
        style.height = `${place.height}px`;
        const columns: Record<string, number> = {
            '--row-h': place.row, '--top': place.top, '--rate-right': place.rate_right, '--lag-right': place.lag_right, '--bar-left': place.bar_left,
            '--bar-w': place.bar_right - place.bar_left, '--owner-left': place.owner_left, '--checkpoint': place.checkpoint,
        };
        for (const [name, value] of Object.entries(columns)) style.setProperty(name, `${value}px`);
        this.cables.resize(place, this.model.size);
        this.arrange_labels(place);
    }

    private arrange_labels(place: Layout): void {
        const at = (text: string, x: number, side: 'start' | 'middle' | 'end') => {
            const label = element('span', side, text);
            label.style.left = `${x}px`;
            return label;
        };
        const room = place.bar_right - place.bar_left;
        const ticks = scale.filter(([ms]) => room >= 200 || (ms !== 10_000 && ms !== 600_000));
        const labels = ticks.map(([ms, text]) => at(text, place.bar_right - lag_position(ms) * room, 'middle'));
        if (!place.tight) labels.push(at('Partition', 6, 'start'), at('in', place.rate_right, 'end'));
        labels.push(at('behind', place.lag_right, 'end'), at('Owner', place.owner_left, 'start'), at('Checkpoint', place.checkpoint + 14, 'start'));
        if (!place.compact) labels.push(at('stored', place.width - 92, 'end'), at('crash repeats', place.width - 4, 'end'));
        this.labels.replaceChildren(...labels);
        this.cables.scale(ticks.map(([ms]) => place.bar_right - lag_position(ms) * room));
    }
}
