// The sentence that opens the Processors page: the first of these that applies, and the evidence in one more sentence.
//
//     silent owners, lost or ownerless partitions, things that need somebody, hand-overs, joined or leaving, paused,
//     "On an even keel.", and else how many share what.
import { server_now } from '../clock';
import { count, cut, duration, moment, pad, plural } from '../formats';
import { GroupModel, type KnownMember, nobody, phases, states } from './group';
import { loss_is_soon } from './loss';

export interface Piece { text: string; tone?: 'bad' | 'warn' }
export interface Verdict { head: Piece[]; sub: string; spoken: string; needs: number; counting: boolean }

const many = 64, even_behind_ms = 5000, joined_recently_ms = 15_000;

export interface Trouble { p: number; kind: 'stalled' | 'parked' | 'lost' | 'loss' | 'ownerless'; tone: 'bad' | 'warn' }

// Partitions somebody should look at, the most urgent first.
export function troubles(model: GroupModel): Trouble[] {
    const found: Trouble[] = [];
    for (let p = 0; p < model.size; ++p) {
        const state = states[model.state[p]!];
        if (model.lost[p]! > 0) found.push({ p, kind: 'lost', tone: 'bad' });
        else if (loss_is_soon(model.loss[p]!, model.retention_ms)) found.push({ p, kind: 'loss', tone: 'bad' });
        else if (state === 'stalled') found.push({ p, kind: 'stalled', tone: 'bad' });
        else if (state === 'parked') found.push({ p, kind: 'parked', tone: 'warn' });
    }
    const rank = { lost: 0, loss: 1, stalled: 2, parked: 3, ownerless: 4 };
    return found.sort((a, b) => rank[a.kind] - rank[b.kind] || a.p - b.p);
}

const list = (words: string[]): string =>
    words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

function furthest(model: GroupModel, skip?: (p: number) => boolean): number {
    let most = Number.NaN;
    for (let p = 0; p < model.size; ++p)
        if (!skip?.(p) && !(model.behind[p]! <= most) && !Number.isNaN(model.behind[p]!)) most = model.behind[p]!;
    return most;
}

// The owner whose partitions are much further behind than those of all others, by their median.
export function slowest(model: GroupModel): string | null {
    const medians = model.members.filter(member => member.state === 'active' && member.share > 1).map(member => {
        const index = model.id_index(member.id), its: number[] = [];
        for (let p = 0; p < model.size; ++p) if (model.owner[p] === index && !Number.isNaN(model.behind[p]!)) its.push(model.behind[p]!);
        return { id: member.id, behind: its.sort((a, b) => a - b)[its.length >> 1] ?? 0 };
    }).sort((a, b) => b.behind - a.behind);
    const [first, second] = medians;
    return first && second && first.behind > even_behind_ms && first.behind > 3 * second.behind ? first.id : null;
}

function silent(model: GroupModel, members: KnownMember[]): Verdict {
    const first = members[0]!, waiting: number[] = [];
    for (let p = 0; p < model.size; ++p) if (members.some(member => member.id === model.owner_of(p))) waiting.push(p);
    const left = Math.min(...members.map(member =>
        member.dead_after_ms === null ? Infinity : member.dead_after_ms - (model.silent_ms(member) ?? 0)));
    const name = members.length === 1 ? `${cut(first.id)} is silent.` : `${members.length} owners are silent.`;
    const for_ms = Math.max(...members.map(member => model.silent_ms(member) ?? 0));
    const gone = members.some(member => model.moves.slice(0, 64).some(move => move.from === member.id && server_now() - Date.parse(move.at) < 60_000));
    const then = waiting.length === 0 ? gone ? 'Its partitions are taken over.' : 'It owned nothing.'
        : left === Infinity ? `Silent for ${duration(for_ms, 'left')}.`
            : left <= 0 ? 'Take-over is due now.'
                : model.size > many ? `${members.length === 1 ? 'Its' : 'Their'} ${plural(waiting.length, 'partition')} ${waiting.length === 1 ? 'moves' : 'move'} in ${duration(left, 'left')}.` : `Take-over in ${duration(left, 'left')}.`;
    const rest = model.size - waiting.length, needing = troubles(model).length, slow = slowest(model);
    const others = needing ? ` ${plural(needing, 'partition')} ${needing === 1 ? 'needs' : 'need'} you${slow ? `; ${cut(slow)} is the slowest owner` : ''}.` : '';
    return {
        head: [{ text: name, tone: 'bad' }, { text: ` ${then}` }],
        sub: waiting.length && needing ? `${count(rest)} of ${plural(model.size, 'partition')} are read.${others}` : waiting.length ? `${plural(waiting.length, 'partition')} ${waiting.length === 1 ? 'waits' : 'wait'} for a new owner. ${rest ? `${count(rest)} go on as before.` : ''}` : 'The others go on as before.',
        spoken: `${name} ${plural(waiting.length, 'partition')} wait for a new owner.`, needs: members.length + needing, counting: true,
    };
}

function need(model: GroupModel, found: Trouble[]): Verdict {
    const words = found.slice(0, 4).map(({ p, kind }) => {
        const name = pad(p, model.size);
        if (kind === 'lost') return `${name} lost ${plural(model.lost[p]!, 'event')}`;
        return kind === 'loss' ? `${name} loses events in ${duration(model.loss[p]! * 1000, 'left')}` : `${name} is ${kind}`;
    });
    if (found.length > 4) words.push(`${count(found.length - 4)} more`);
    const rest = model.size - found.length;
    const head = `${found.length === 1 ? '1 partition needs' : `${count(found.length)} partitions need`} you.`;
    return {
        head: [{ text: head }], needs: found.length, counting: false, spoken: `${head} ${words.join(', ')}.`,
        sub: `${words.join(', ')}. ${rest === 0 ? '' : rest === 1 ? 'The other one runs as it should.' : `The other ${count(rest)} run as they should.`}`,
    };
}

// What the moves of the last minute to these members repeated, as far as it is known.
function repeats_of(model: GroupModel, members: string[]): string {
    const known = model.moves.filter(move => move.to !== null && members.includes(move.to) && move.repeated !== null && server_now() - Date.parse(move.at) < 60_000);
    const sum = known.reduce((total, move) => total + move.repeated!, 0);
    return known.length === 0 ? '' : sum === 0 ? ' Nothing was repeated so far.' : ` ${plural(sum, 'event')} ${sum === 1 ? 'was' : 'were'} repeated.`;
}

function hand_over(model: GroupModel, moving: number[]): Verdict {
    const counts: Record<string, number> = {};
    for (const p of moving) { const phase = phases[model.phase[p]!]!; counts[phase] = (counts[phase] ?? 0) + 1; }
    const next = [...new Set(moving.map(p => model.next_of(p)).filter(id => id !== null))] as string[];
    const joined = next.length === 1 ? model.member(next[0]!) : undefined;
    const arrived = joined ? joined.share : 0, all = moving.length + (joined_lately(joined) ? arrived : 0);
    const leaving = model.members.filter(member => member.state === 'leaving');
    const why = leaving.length === 1 ? `${cut(leaving[0]!.id)} is leaving. ` : joined && joined_lately(joined) ? `${cut(joined.id)} joined. ` : '';
    const target = joined ? (why.startsWith(cut(joined.id)) ? 'to it' : `to ${cut(joined.id)}`) : 'to their next owners';
    const head = `${why}${plural(all, 'partition')} ${all === 1 ? 'is' : 'are'} on ${all === 1 ? 'its' : 'their'} way ${target}.`;
    const parts: string[] = [];
    if (joined_lately(joined) && arrived) parts.push(`${arrived} ${arrived === 1 ? 'has' : 'have'} arrived`);
    const say = (phase: string, word: string) => { const n = counts[phase]; if (n) parts.push(`${n} ${n === 1 ? 'is' : 'are'} ${word}`); };
    say('stored', 'stored'); say('draining', 'draining'); say('offered', 'waiting'); say('free', 'free');
    return { head: [{ text: head }], sub: `${list(parts)}.${repeats_of(model, next)}`, spoken: head, needs: 0, counting: true };
}

// Whole minutes are enough for what is long ago.
function since(at: string): string {
    const ms = server_now() - Date.parse(at);
    return ms >= 60_000 && ms < 3_570_000 ? `${Math.round(ms / 60_000)} min` : duration(ms);
}

function joined_lately(member: KnownMember | undefined): boolean {
    const since = moment(member?.since);
    return since !== null && server_now() - since < joined_recently_ms;
}

export function verdict(model: GroupModel): Verdict {
    const plain = (head: string, sub: string, needs = 0): Verdict => ({ head: [{ text: head }], sub, spoken: head, needs, counting: false });
    const name = `${cut(model.hub)} / ${cut(model.group)}`;
    const silent_members = model.members.filter(member => member.state === 'silent');
    if (silent_members.length) return silent(model, silent_members);
    if (model.members.length === 0) {
        const last = model.moves[0];
        return plain(`Nobody reads ${name}.`, `Checkpoints stay, and what is behind grows.${last ? ` Last move ${since(last.at)} ago.` : ''}`, 1);
    }
    const found = troubles(model);
    if (found.some(one => one.kind === 'lost')) return need(model, found);
    const free: number[] = [], moving: number[] = [];
    let paused = 0;
    for (let p = 0; p < model.size; ++p) {
        if (states[model.state[p]!] === 'paused') ++paused;
        else if (model.next[p] !== nobody && phases[model.phase[p]!] !== 'owned') moving.push(p);
        else if (model.owner[p] === nobody) free.push(p);
    }
    if (free.length) return plain(`${plural(free.length, 'partition')} ${free.length === 1 ? 'has' : 'have'} no owner.`,
        `${list(free.slice(0, 6).map(p => pad(p, model.size)))}${free.length > 6 ? ' and more' : ''}. An owner takes them up within two heartbeats.`, 1);
    if (found.length) return need(model, found);
    if (moving.length) return hand_over(model, moving);
    const leaving = model.members.filter(member => member.state === 'leaving'), joined = model.members.filter(joined_lately);
    const worst = furthest(model), owners = model.members.filter(member => member.share > 0).length;
    const shared = `${plural(owners, 'owner')} ${owners === 1 ? 'has' : 'share'} ${plural(model.size, 'partition')}.`;
    const move = model.moves[0], last = move ? ` Last move ${since(move.at)} ago.` : '';
    if (leaving.length) return plain(`${list(leaving.map(member => cut(member.id)))} ${leaving.length === 1 ? 'is' : 'are'} leaving.`, shared);
    if (joined.length && joined.length < model.members.length) return plain(`${list(joined.map(member => cut(member.id)))} joined.`, shared);
    if (paused) return plain(`${paused === model.size ? 'The group' : plural(paused, 'partition')} ${paused === 1 || paused === model.size ? 'is' : 'are'} paused.`, `${shared} What is paused is kept and goes on where it stopped.`);
    const shares = model.members.filter(member => member.state === 'active' || member.share > 0).map(member => member.share);
    const behind = Number.isNaN(worst) ? 'No checkpoint yet.' : `Nobody is more than ${duration(worst)} behind.`;
    if (Math.max(...shares) - Math.min(...shares) <= 1 && !(worst > even_behind_ms)) return plain('On an even keel.', `${shared} ${behind}${last}`);
    return plain(`${plural(owners, 'owner')} ${owners === 1 ? 'has' : 'share'} ${plural(model.size, 'partition')}${Number.isNaN(worst) ? '' : `, the furthest is ${duration(worst)} behind`}.`,
        Math.max(...shares) - Math.min(...shares) > 1 ? `Shares go from ${Math.min(...shares)} to ${Math.max(...shares)}.${last}` : last.trim());
}
