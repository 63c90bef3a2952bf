// How far behind the groups of a hub are, in words: of one without a checkpoint nothing is known, so what is known of the others
// is a lower bound.
import { duration, unknown } from '../formats';
import type { Group } from '../api/types';

export function furthest_behind(groups: Pick<Group, 'behind_ms'>[]): string {
    const known = groups.flatMap(group => group.behind_ms ?? []);
    if (known.length === 0) return groups.length ? unknown : 'no group';
    return `${known.length < groups.length ? '≥ ' : ''}${duration(Math.max(...known))}`;
}
