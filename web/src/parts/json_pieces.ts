// JSON as it is drawn: indented, with a tone for each piece. Made from the text and not from parsed values, so that numbers
// keep all their digits, and names their order. Null if it is not JSON.
import { duration, moment, visible } from '../formats';

// Class names of pages.css: sign, name, string, number, word; '' is space.
export interface Piece { tone: '' | 'p' | 'k' | 's' | 'nu' | 'w'; text: string }

const pieces_max = 12_000, indent_max = 40;
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/gs;

function time_note(value: number, stored: string | null): string {
    const ms = value > 1e12 && value < 4e12 ? value : value > 1e9 && value < 4e9 ? value * 1000 : null, at = moment(stored);
    if (ms === null || at === null) return '';
    const before = at - ms;
    return Math.abs(before) > 31 * 86_400_000 ? '' : `${duration(Math.abs(before), 'move')} ${before >= 0 ? 'before' : 'after'} stored`;
}

export function json_pieces(text: string, stored: string | null): Piece[] | null {
    try { JSON.parse(text); } catch { return null; }
    const pieces: Piece[] = [], open: string[] = [];
    const put = (tone: Piece['tone'], what: string) => { pieces.push({ tone, text: what }); };
    const line = () => put('', `\n${'  '.repeat(Math.min(open.length, indent_max))}`);
    let before = '';
    for (const [one] of text.matchAll(token)) {
        if (pieces.length >= pieces_max) { put('p', '…'); break; }
        const is_first = before === '{' || before === '[', is_name = open.at(-1) === '{' && (is_first || before === ',');
        if (one === '}' || one === ']') {
            open.pop();
            if (!is_first) line();
            put('p', one);
        } else if (one === ':') put('p', ': ');
        else if (one === ',') { put('p', one); line(); }
        else {
            if (is_first) line();
            if (one === '{' || one === '[') { put('p', one); open.push(one); }
            else if (one.startsWith('"')) put(is_name ? 'k' : 's', `"${visible(JSON.parse(one) as string)}"`);
            else if (/^[-\d]/.test(one)) {
                const note = time_note(Number(one), stored);
                put('nu', one);
                if (note) put('p', `  ${note}`);
            } else put('w', one);
        }
        before = one;
    }
    return pieces;
}
