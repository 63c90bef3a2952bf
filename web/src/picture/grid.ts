// The grid for large groups: one row an owner, one cell a partition, its fill says how far behind. One canvas; only
// cells that changed are painted. Patterns and signs say what colour alone would not.
import { cut, duration, lag_position, rough } from '../formats';
import { type GroupModel, nobody, states } from '../model/group';
import { mark_of } from '../model/owners';
import { element } from './dom';
import { summary } from './rows';

interface Cell { x: number; y: number; row: number }
interface GridRow { index: number; name: string; partitions: number[]; silent: boolean; y: number; lines: number }

const name_room = 92, right_room = 84, row_height = 28, cell_height = 22, head = 26, across = 40;

export type Order = 'owner' | 'number';

export class Grid {
    readonly root = element('div', 'grid');
    private canvas = element('canvas');
    private table = element('div', 'gridbox');
    private line = element('div');
    private cursor = element('div', 'cursor');
    private cells: Cell[] = [];
    private rows: GridRow[] = [];
    private cell_width = 10;
    private key = '';
    private focused = 0;
    private colours: Record<string, string> = {};
    private hatch: CanvasPattern | null = null;

    constructor(private readonly model: GroupModel, private readonly open: (partition: number) => void) {
        this.canvas.setAttribute('aria-hidden', 'true');
        // One cell that the arrows move: it names the partition it stands on.
        this.table.setAttribute('role', 'grid');
        this.table.setAttribute('aria-label', 'Partitions. Arrows move, Enter opens.');
        this.line.setAttribute('role', 'row');
        this.cursor.setAttribute('role', 'gridcell');
        this.cursor.tabIndex = 0;
        this.line.append(this.cursor);
        this.table.append(this.line);
        this.root.append(this.canvas, this.table);
        this.cursor.addEventListener('keydown', event => this.press(event));
        this.canvas.addEventListener('click', event => {
            const found = this.at(event.offsetX, event.offsetY);
            if (found !== null) this.open(found);
        });
        this.canvas.addEventListener('mousemove', event => {
            const found = this.at(event.offsetX, event.offsetY);
            this.canvas.title = found === null ? '' : summary(this.model, found);
        });
    }

    paint(width: number, order: Order, chosen: number | null): void {
        const model = this.model, theme = document.documentElement.dataset['theme'] ?? '';
        const key = `${width} ${order} ${theme} ${model.shape} ${chosen}`;
        if (key !== this.key) {
            this.key = key;
            this.arrange(width, order, theme);
            this.paint_all(width, order, chosen);
            model.take_dirty(() => undefined);
            return;
        }
        const pen = this.canvas.getContext('2d')!, touched = new Set<number>();
        model.take_dirty(p => { this.paint_cell(pen, p, chosen); touched.add(this.cells[p]?.row ?? -1); });
        if (order === 'owner') for (const row of touched) if (this.rows[row]) this.paint_figures(pen, this.rows[row]!, width);
    }

    private arrange(width: number, order: Order, theme: string): void {
        const model = this.model;
        const style = getComputedStyle(document.documentElement);
        this.colours = Object.fromEntries(['bg', 'text', 'muted', 'faint', 'bad', 'warn', 'orphan', 'track', 'bad-wash', 'on-owner', 'accent',
            ...Array.from({ length: 12 }, (_, i) => `o${i + 1}`)].map(name => [name, style.getPropertyValue(`--${name}`).trim()]));
        void theme;
        this.rows = [];
        if (order === 'number') {
            this.rows.push({ index: nobody, name: '', partitions: Array.from({ length: model.size }, (_, p) => p), silent: false, y: head, lines: 1 });
        } else {
            for (const member of model.members) this.rows.push({ index: model.id_index(member.id), name: member.id, partitions: [], silent: member.state === 'silent', y: 0, lines: 1 });
            const by_index = new Map(this.rows.map(row => [row.index, row]));
            const none: GridRow = { index: nobody, name: 'nobody', partitions: [], silent: true, y: 0, lines: 1 };
            for (let p = 0; p < model.size; ++p) (by_index.get(model.owner[p]!) ?? none).partitions.push(p);
            if (none.partitions.length) this.rows.push(none);
        }
        const left = order === 'owner' ? name_room : 44, room = width - left - (order === 'owner' ? right_room : 0);
        const longest = order === 'number' ? across : Math.max(1, ...this.rows.map(row => row.partitions.length));
        this.cell_width = Math.max(6, Math.min(20, Math.floor(room / longest)));
        const per_line = order === 'number' ? across : Math.max(1, Math.floor(room / this.cell_width));
        let y = head;
        this.cells = Array.from({ length: model.size }, () => ({ x: 0, y: 0, row: -1 }));
        this.rows.forEach((row, index) => {
            row.y = y;
            row.lines = Math.max(1, Math.ceil(row.partitions.length / per_line));
            row.partitions.forEach((p, i) => { this.cells[p] = { x: left + (i % per_line) * this.cell_width, y: y + Math.floor(i / per_line) * row_height, row: index }; });
            y += row.lines * row_height;
        });
        this.resize(width, y + 4);
        this.place_cursor();
    }

    private resize(width: number, height: number): void {
        const ratio = devicePixelRatio || 1;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.canvas.style.width = this.root.style.width = `${width}px`;
        this.canvas.style.height = this.root.style.height = `${height}px`;
        this.canvas.getContext('2d')!.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.hatch = this.make_hatch(ratio);
    }

    private make_hatch(ratio: number): CanvasPattern | null {
        const tile = element('canvas');
        tile.width = tile.height = 6 * ratio;
        const pen = tile.getContext('2d')!;
        pen.scale(ratio, ratio);
        pen.strokeStyle = this.colours['bg']!;
        pen.lineWidth = 1.5;
        pen.beginPath();
        for (const at of [-6, 0, 6]) { pen.moveTo(at, 6); pen.lineTo(at + 6, 0); }
        pen.stroke();
        const pattern = this.canvas.getContext('2d')!.createPattern(tile, 'repeat');
        pattern?.setTransform(new DOMMatrix().scale(1 / ratio));
        return pattern;
    }

    private paint_all(width: number, order: Order, chosen: number | null): void {
        const pen = this.canvas.getContext('2d')!;
        pen.clearRect(0, 0, width, this.canvas.height);
        const text = (words: string, x: number, y: number, side: CanvasTextAlign = 'left') => { pen.textAlign = side; pen.fillText(words, x, y); };
        pen.font = '11px Inter, system-ui, sans-serif';
        pen.fillStyle = this.colours['faint']!;
        if (order === 'owner') {
            text('Owner', 0, 12);
            text('Its partitions, by number. Height is how far behind: full is 1 h', name_room, 12);
            text('partitions, behind', width, 12, 'right');
        } else {
            text('All partitions by number, 40 a line. Height is how far behind: full is 1 h', 44, 12);
            for (let p = 0; p < this.model.size; p += across) text(String(p), 36, this.cells[p]!.y + 15, 'right');
        }
        if (order === 'owner') for (const row of this.rows) this.paint_head(pen, row, width);
        for (let p = 0; p < this.model.size; ++p) this.paint_cell(pen, p, chosen);
    }

    private paint_head(pen: CanvasRenderingContext2D, row: GridRow, width: number): void {
        const mark = this.model.marks.of(row.index === nobody ? null : row.name), y = row.y;
        if (row.silent) { pen.fillStyle = this.colours['bad-wash']!; pen.fillRect(0, y - 3, width, row.lines * row_height); }
        pen.lineWidth = 1;
        pen.setLineDash(row.silent ? [3, 2] : []);
        pen.strokeStyle = this.colours['orphan']!;
        pen.beginPath();
        pen.roundRect(0.5, y + 2.5, 23, 17, 3);
        if (row.silent) pen.stroke();
        else { pen.fillStyle = this.colours[`o${mark?.colour ?? 1}`]!; pen.fill(); }
        pen.setLineDash([]);
        if (!row.silent && this.hatch && mark && mark.pattern !== 'plain') { pen.fillStyle = this.hatch; pen.fillRect(0, y + 2.5, 6, 17); }
        pen.textAlign = 'center';
        pen.font = '600 11px Inter, system-ui, sans-serif';
        pen.fillStyle = this.colours[row.silent ? 'muted' : 'on-owner']!;
        pen.fillText(mark?.letters ?? '–', !row.silent && mark && mark.pattern !== 'plain' ? 14.5 : 12, y + 15);
        pen.textAlign = 'left';
        pen.font = `${row.silent ? 600 : 400} 12px Inter, system-ui, sans-serif`;
        pen.fillStyle = this.colours[row.silent ? 'bad' : 'muted']!;
        pen.fillText(cut(row.name, 9), 32, y + 15, name_room - 36);
        this.paint_figures(pen, row, width);
    }

    private paint_figures(pen: CanvasRenderingContext2D, row: GridRow, width: number): void {
        const worst = row.partitions.reduce((most, p) => Math.max(most, this.model.behind[p]! || 0), 0);
        if (!row.silent) pen.clearRect(width - right_room + 4, row.y - 1, right_room, row_height - 4);
        else if (this.key) { pen.clearRect(width - right_room + 4, row.y - 3, right_room, row_height); pen.fillStyle = this.colours['bad-wash']!; pen.fillRect(width - right_room + 4, row.y - 3, right_room - 4, row_height); }
        pen.textAlign = 'right';
        pen.font = `${worst > 60_000 ? 600 : 400} 12px Inter, system-ui, sans-serif`;
        pen.fillStyle = this.colours[row.silent ? 'bad' : worst > 60_000 ? 'text' : 'muted']!;
        pen.fillText(worst >= 60_000 ? rough(worst) : duration(worst), width, row.y + 15);
        pen.font = '12px Inter, system-ui, sans-serif';
        pen.fillStyle = this.colours[row.silent ? 'bad' : 'muted']!;
        pen.fillText(String(row.partitions.length), width - 56, row.y + 15);
    }

    private paint_cell(pen: CanvasRenderingContext2D, p: number, chosen: number | null): void {
        const cell = this.cells[p];
        if (!cell) return;
        const model = this.model, { x, y } = cell, width = this.cell_width - 2, state = states[model.state[p]!]!, orphan = model.orphaned(p);
        const mark = model.marks.of(model.owner_of(p)) ?? mark_of(0), tone = orphan ? this.colours['orphan']! : this.colours[`o${mark.colour}`]!;
        const height = Math.max(2, lag_position(model.behind[p]) * cell_height);
        pen.clearRect(x, y, width, cell_height);
        pen.globalAlpha = orphan ? 0.45 : 0.2;
        pen.fillStyle = tone;
        pen.fillRect(x, y, width, cell_height);
        pen.globalAlpha = 1;
        pen.fillRect(x, y + cell_height - height, width, height);
        if (this.hatch && (orphan || mark.pattern !== 'plain')) { pen.fillStyle = this.hatch; pen.globalAlpha = orphan ? 0.8 : 0.6; pen.fillRect(x, y, width, cell_height); pen.globalAlpha = 1; }
        if (state !== 'ok') this.paint_sign(pen, x, y, width, state);
        if (p === chosen) { pen.strokeStyle = this.colours['accent']!; pen.lineWidth = 2; pen.strokeRect(x + 1, y + 1, width - 2, cell_height - 2); }
    }

    private paint_sign(pen: CanvasRenderingContext2D, x: number, y: number, width: number, state: string): void {
        pen.fillStyle = this.colours[state === 'stalled' ? 'bad' : 'warn']!;
        pen.fillRect(x, y, width, cell_height);
        pen.fillStyle = pen.strokeStyle = this.colours['bg']!;
        const middle = x + width / 2, centre = y + cell_height / 2, arm = Math.min(4, width / 2 - 1);
        pen.lineWidth = 2;
        pen.beginPath();
        if (state === 'stalled') { pen.moveTo(middle - arm, centre - arm); pen.lineTo(middle + arm, centre + arm); pen.moveTo(middle + arm, centre - arm); pen.lineTo(middle - arm, centre + arm); }
        else if (state === 'paused') { pen.moveTo(middle - arm / 2, centre - arm); pen.lineTo(middle - arm / 2, centre + arm); pen.moveTo(middle + arm / 2, centre - arm); pen.lineTo(middle + arm / 2, centre + arm); }
        else pen.fillRect(middle - arm, centre - arm, arm * 2, arm * 2);
        pen.stroke();
    }

    private at(x: number, y: number): number | null {
        const found = this.cells.findIndex(cell => x >= cell.x && x < cell.x + this.cell_width && y >= cell.y && y < cell.y + cell_height);
        return found < 0 ? null : found;
    }

    private press(event: KeyboardEvent): void {
        const cell = this.cells[this.focused];
        if (!cell) return;
        const row = this.rows[cell.row]!, at = row.partitions.indexOf(this.focused);
        let next: number | undefined;
        if (event.key === 'ArrowRight') next = row.partitions[at + 1];
        else if (event.key === 'ArrowLeft') next = row.partitions[at - 1];
        else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            const other = this.rows.length === 1 ? row : this.rows[cell.row + (event.key === 'ArrowDown' ? 1 : -1)];
            next = this.rows.length === 1 ? row.partitions[at + (event.key === 'ArrowDown' ? across : -across)] : other?.partitions[Math.min(at, other.partitions.length - 1)];
        } else if (event.key === 'Enter') this.open(this.focused);
        else return;
        event.preventDefault();
        event.stopPropagation();
        if (next === undefined) return;
        this.focused = next;
        this.place_cursor();
    }

    private place_cursor(): void {
        const target = this.cells[this.focused];
        if (!target) return;
        this.cursor.style.transform = `translate(${target.x - 2}px, ${target.y - 2}px)`;
        this.cursor.style.width = `${this.cell_width + 2}px`;
        this.cursor.setAttribute('aria-label', summary(this.model, this.focused));
    }
}
