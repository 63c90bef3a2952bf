// One row a partition: a real table row whose cells are placed by the picture's columns. Text is written only when it differs.
import { ago, count, cut, duration, lag_position, pad, plural, rate, spoken, time } from '../formats';
import { server_now, steady } from '../clock';
import { type GroupModel, phases, states } from '../model/group';
import { colour_class, element, set_class, set_text } from './dom';
import type { Layout } from './layout';

export const signs: Record<string, string> = { stalled: '✕', parked: '■', paused: '‖' };

// 0 to 3 dots of a hand-over, or -1 when none is under way.
export function step_of(model: GroupModel, p: number): number {
    const next = model.next_of(p);
    if (next === null || model.orphaned(p)) return -1;
    switch (phases[model.phase[p]!]) {
        case 'offered': return 0;
        case 'draining': return 1;
        case 'stored': return 2;
        case 'free': return 2;
        default: return -1;
    }
}

export function note_of(model: GroupModel, p: number): string {
    const letters = model.marks.of(model.next_of(p))?.letters ?? '';
    switch (phases[model.phase[p]!]) {
        case 'offered': return `offered to ${letters}`;
        case 'draining': return `draining ${duration(steady() - model.phase_seen[p]!, 'lag')}`;
        case 'stored': return 'stored';
        case 'free': return `free, ${letters} begins`;
        default: return '';
    }
}

export class Row {
    readonly line = element('tr', 'row');
    private head = element('th', 'id');
    private rate = element('td', 'rate');
    private behind = element('td', 'behind');
    private bar_cell = element('td', 'barcell');
    private track = element('span', 'track');
    private bar = element('span', 'fill');
    private label = element('span', 'label');
    private note = element('span', 'note');
    private dots = element('span', 'dots');
    private note_text = element('span');
    private owner = element('td', 'ownercell');
    private owner_text = element('span', 'hidden');
    private checkpoint = element('td', 'checkpoint');
    private stored = element('td', 'stored');
    private repeats = element('td', 'repeats');
    private arrived_at = -Infinity;

    constructor(readonly p: number, partitions: number) {
        const button = element('button', 'idbutton');
        button.type = 'button';
        const hidden = element('span', 'hidden', 'Partition ');
        button.append(hidden, pad(p, partitions));
        button.dataset['partition'] = String(p);
        this.head.append(button);
        this.head.scope = 'row';
        this.line.dataset['partition'] = String(p);
        this.line.setAttribute('role', 'row');
        this.head.setAttribute('role', 'rowheader');
        this.note.append(this.dots, this.note_text);
        this.track.append(this.bar);
        this.bar_cell.append(this.track, this.label, this.note);
        this.bar_cell.setAttribute('aria-hidden', 'true');
        this.owner.append(this.owner_text);
        for (const cell of [this.rate, this.behind, this.owner, this.checkpoint, this.stored, this.repeats]) cell.setAttribute('role', 'cell');
        this.line.append(this.head, this.rate, this.behind, this.bar_cell, this.owner, this.checkpoint, this.stored, this.repeats);
    }

    // The next owner has begun to read: three full dots for a while.
    arrived(): void {
        this.arrived_at = steady();
    }

    paint(model: GroupModel, place: Layout, live: boolean, chosen: boolean): void {
        const p = this.p, state = states[model.state[p]!]!, orphan = model.orphaned(p);
        const tone = model.lost[p]! > 0 || state === 'stalled' ? 'bad' : state === 'parked' || state === 'paused' ? 'warn' : orphan ? 'orphan' : '';
        const mark = model.marks.of(model.owner_of(p));
        set_class(this.line, `row ${tone} ${chosen ? 'chosen' : ''} ${steady() - this.arrived_at < 3000 ? 'arrived' : ''}`);
        set_text(this.rate, rate(model.in_per_s[p]));
        const behind = duration(model.behind[p]);
        set_text(this.behind, behind);
        this.behind.setAttribute('aria-label', `${spoken(model.behind[p])} behind${state === 'ok' ? '' : `, ${state}`}${orphan ? ', nobody reads it' : ''}`);
        this.paint_bar(model, place, state, orphan, colour_class(mark));
        this.paint_owner(model, orphan);
        const stored = Number.isNaN(model.checkpoint[p]!) ? Number.NaN : model.stored_age(p);
        set_text(this.checkpoint, Number.isNaN(model.checkpoint[p]!) ? 'none yet' : count(model.checkpoint[p]));
        set_text(this.stored, live ? ago(stored) : Number.isNaN(stored) ? '–' : time(server_now() - stored, server_now()));
        this.checkpoint.setAttribute('aria-label', Number.isNaN(model.checkpoint[p]!) ? 'No checkpoint yet'
            : `checkpoint ${count(model.checkpoint[p])}, stored ${spoken(stored)} ago`);
        const bound = model.repeats[p]!;
        set_text(this.repeats, Number.isNaN(bound) ? '–' : bound === 0 ? '0' : `≤ ${count(bound)}`);
    }

    private paint_bar(model: GroupModel, place: Layout, state: string, orphan: boolean, colours: string): void {
        const p = this.p, room = place.bar_right - place.bar_left, width = Math.max(3, lag_position(model.behind[p]) * room);
        const trouble = state !== 'ok';
        set_class(this.bar, `fill ${orphan ? 'orphan' : colours}`);
        this.bar.style.transform = `translateX(${(room - width).toFixed(1)}px)`;
        set_class(this.label, trouble ? `label ${colours}` : 'label none');
        if (trouble) {
            set_text(this.label, `${signs[state]} ${state}`);
            this.label.style.minWidth = `${width}px`;
        }
        const arrived = steady() - this.arrived_at < 3000, step = arrived ? 3 : step_of(model, p);
        set_class(this.note, step < 0 || trouble ? 'note none' : 'note');
        if (step < 0) return;
        set_text(this.dots, '●'.repeat(step) + '○'.repeat(3 - step));
        set_text(this.note_text, arrived ? `${model.marks.of(model.owner_of(p))?.letters ?? ''} reads` : note_of(model, p));
        this.note.style.right = `${width + 10}px`;
    }

    private paint_owner(model: GroupModel, orphan: boolean): void {
        const p = this.p, id = model.owner_of(p), next = model.next_of(p);
        const letters = model.marks.of(id)?.letters ?? '';
        const moving = next === null ? '' : `, next ${cut(next)}`;
        set_text(this.owner_text, id === null ? `nobody owns it${moving}`
            : `owner ${letters}, ${cut(id)}${orphan ? ', silent' : ''}, epoch ${count(model.epoch[p])}${moving}`);
    }
}

export const summary = (model: GroupModel, p: number): string =>
    `Partition ${pad(p, model.size)}: ${spoken(model.behind[p])} behind, ${plural(model.lag[p]! || 0, 'event')}, ${model.owner_of(p) ? `owner ${cut(model.owner_of(p)!)}` : 'nobody owns it'}${model.state[p] ? `, ${states[model.state[p]!]}` : ''}`;
