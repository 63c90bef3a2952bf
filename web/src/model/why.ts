// "Why is this partition here?" from what the page knows, where the server has no sentences of its own.
import { count, cut, duration, plural } from '../formats';
import type { GroupModel } from './group';

// A reason of the journal in few words: "taken over: agg-03da silent".
export function in_short(reason: string): string {
    const silent = /^taken over: '(.*)' has not been heard of$/s.exec(reason), stops = /^(handed over|released): '(.*)' stops$/s.exec(reason);
    if (silent) return `taken over: ${cut(silent[1]!, 24)} silent`;
    if (stops) return `${stops[1]}: ${cut(stops[2]!, 24)} stops`;
    return reason === 'nobody had it before' ? 'free: first start' : reason;
}

type Facts = Pick<GroupModel, 'moves' | 'members' | 'phase'> & { owner_of(p: number): string | null; next_of(p: number): string | null; orphaned(p: number): boolean };

const listed = (words: string[]): string => words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

function origin(facts: Facts, p: number): string {
    const move = facts.moves.find(one => one.p === p);
    if (!move) return 'No move of it is in the journal: it has been here for longer than that.';
    if (move.from === null) return 'Nobody had it before.';
    const whence = `It came from ${cut(move.from)}`;
    const cost = [move.gap_ms === null ? '' : `nobody read it for ${duration(move.gap_ms, 'move')}`, move.repeated === null ? '' : move.repeated === 0 ? 'nothing repeated' : `${plural(move.repeated, 'event')} repeated`].filter(Boolean);
    return `${whence} (${cut(move.reason, 80)})${cost.length ? `; ${listed(cost)}` : ''}.`;
}

function future(facts: Facts, p: number): string {
    const next = facts.next_of(p), shares = facts.members.filter(member => member.state === 'active' || member.share > 0).map(member => member.share).sort((a, b) => b - a);
    if (facts.orphaned(p)) return next === null ? 'It waits until an owner takes it up.' : `It goes to ${cut(next)} when its owner counts as gone.`;
    if (next !== null && facts.phase[p] !== 0) return `It is on its way to ${cut(next)}.`;
    if (shares.length < 2) return 'It stays: there is nobody else.';
    const said = shares.length > 6 ? `from ${count(shares.at(-1))} to ${count(shares[0])}` : listed(shares.map(share => count(share)));
    return shares[0]! - shares.at(-1)! <= 1 ? `It stays: shares are ${said}, and moving it would make nothing more even.` : `Shares are ${said}, so partitions still move.`;
}

export function why(facts: Facts, p: number): string[] {
    return [origin(facts, p), future(facts, p)];
}
