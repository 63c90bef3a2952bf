// Why a partition moved, in few words.
import { cut } from '../formats';

// A reason of the journal in few words: "taken over: agg-03da silent".
export function in_short(reason: string): string {
    const silent = /^taken over: '(.*)' has not been heard of$/s.exec(reason), other = /^(handed over|released): '(.*)' (stops|joined)$/s.exec(reason);
    if (silent) return `taken over: ${cut(silent[1]!, 24)} silent`;
    if (other) return `${other[1]}: ${cut(other[2]!, 24)} ${other[3]}`;
    return reason === 'nobody had it before' ? 'free: first start' : reason;
}
