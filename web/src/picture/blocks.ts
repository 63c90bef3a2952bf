// The owners in the middle of the picture: who, how much, and how long since the last heartbeat.
import { server_now } from '../clock';
import { count, duration, moment, plural, rate, setting, time } from '../formats';
import { type GroupModel, type KnownMember, nobody } from '../model/group';
import { colour_class, element, set_class, set_name, set_text } from './dom';
import type { Layout } from './layout';

const joined_recently_ms = 15_000;

class Block {
    readonly root = element('div', 'block');
    private title = element('div', 'title');
    private badge = element('span', 'badge');
    private name = element('bdi', 'name');
    private first = element('div', 'line');
    private second = element('div', 'line');
    private second_host = element('bdi');
    private second_text = element('span');
    private countdown = element('div', 'countdown');
    private elapsed = element('span', 'elapsed');
    private lease = element('span', 'lease');
    private ends = element('div', 'ends');
    private ends_left = element('span', '', 'last heartbeat');
    private ends_right = element('span');

    constructor() {
        const bar = element('div', 'countbar');
        bar.append(this.elapsed, this.lease);
        this.ends.append(this.ends_left, this.ends_right);
        this.countdown.append(bar, this.ends);
        this.title.append(this.badge, this.name);
        this.second.append(this.second_host, this.second_text);
        this.root.append(this.title, this.first, this.second, this.countdown);
    }

    place(place: Layout, index: number): void {
        const at = place.blocks[index]!, style = this.root.style;
        style.left = `${place.owner_left}px`;
        style.width = `${place.owner_right - place.owner_left}px`;
        style.top = `${at.top}px`;
        style.height = `${at.height}px`;
        this.root.classList.toggle('flat', at.height < 54);
        this.root.classList.toggle('low', at.height < 78);
    }

    paint(model: GroupModel, member: KnownMember, live: boolean, short: boolean): void {
        const silent = member.state === 'silent', mark = model.marks.of(member.id);
        const kept = ['flat', 'low'].filter(name => this.root.classList.contains(name)).join(' ');
        set_class(this.root, `block ${silent ? 'silent' : ''} ${member.state} ${colour_class(mark)} ${kept}`);
        set_class(this.badge, `badge ${silent ? 'gone' : colour_class(mark)}`);
        set_text(this.badge, mark?.letters ?? '?');
        set_name(this.name, member.id);
        const age = model.silent_ms(member);
        const share = this.share(model, member);
        set_class(this.first, silent ? 'line bad strong' : share.comes ? 'line comes' : 'line');
        set_text(this.first, silent ? `silent for ${duration(age, 'lag')}` : share.text);
        const host = short && !silent ? '' : member.host ?? '';
        if (host) set_name(this.second_host, host); else set_text(this.second_host, '');
        set_text(this.second_text, silent ? `${host ? ' · ' : ''}${plural(member.share, 'partition')}` : (host ? ' · ' : '') + this.beat(member, age, live));
        const total = member.dead_after_ms;
        this.countdown.hidden = !silent || total === null || age === null;
        if (!silent || total === null || age === null) return;
        this.elapsed.style.transform = `scaleX(${Math.min(1, age / total).toFixed(3)})`;
        this.lease.hidden = member.lease_ms === null;
        if (member.lease_ms !== null) this.lease.style.left = `${Math.min(100, member.lease_ms / total * 100)}%`;
        set_text(this.ends_right, `take-over, ${setting(total)}`);
    }

    private share(model: GroupModel, member: KnownMember): { text: string; comes: boolean } {
        const index = model.id_index(member.id);
        let leaves = 0, comes = 0;
        for (let p = 0; p < model.size; ++p) {
            if (model.next[p] === nobody || model.phase[p] === 0) continue;
            if (model.owner[p] === index && model.next[p] !== index) ++leaves;
            else if (model.next[p] === index) ++comes;
        }
        if (comes && !leaves) return { text: `${count(member.share)} of ${plural(member.share + comes, 'partition')}`, comes: true };
        if (leaves || comes) return { text: `${count(member.share)} → ${plural(member.share - leaves + comes, 'partition')}`, comes: false };
        return { text: `${plural(member.share, 'partition')} · ${rate(member.in_per_s)}`, comes: false };
    }

    private beat(member: KnownMember, age: number | null, live: boolean): string {
        const since = moment(member.since), word = { standby: 'standby', leaving: 'leaving', unable: 'cannot reach the hub', active: '', silent: '', gone: '' }[member.state];
        if (word) return word;
        if (!live) return age === null ? 'heartbeat unknown' : `heartbeat ${time(server_now() - age, server_now())}`;
        if (since !== null && server_now() - since < joined_recently_ms) return `joined ${duration(server_now() - since)} ago`;
        return age === null ? 'heartbeat unknown' : `heartbeat ${duration(age)} ago`;
    }
}

export class Blocks {
    readonly root = element('div', 'blocks');
    private blocks: Block[] = [];

    constructor() {
        this.root.setAttribute('aria-hidden', 'true');
    }

    paint(model: GroupModel, place: Layout, live: boolean): void {
        while (this.blocks.length > model.members.length) this.blocks.pop()!.root.remove();
        while (this.blocks.length < model.members.length) {
            const block = new Block();
            this.blocks.push(block);
            this.root.append(block.root);
        }
        this.blocks.forEach((block, i) => {
            block.place(place, i);
            block.paint(model, model.members[i]!, live, place.width < 1100);
        });
    }
}
