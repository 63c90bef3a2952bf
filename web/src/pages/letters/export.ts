// Dead letters with their events, for a file: those that are picked, else all of a cause, page by page.
import type { Letter, LetterPage } from '../../api/types';

const exported_max = 10_000, page_size = 500;

type Get = <T>(path: string) => Promise<T>;

// A line of JSON each. `told` hears how many have been read. Not all if there are more than exported_max.
export async function collect(get: Get, path: string, cause: string | null, picked: readonly Letter[], told: (done: number) => void): Promise<{ lines: string[]; is_all: boolean }> {
    const lines: string[] = [];
    let gone = 0;
    const add = async (letters: readonly Letter[]): Promise<void> => {
        for (const { p, seq } of letters.slice(0, exported_max - lines.length)) {
            try {
                lines.push(JSON.stringify(await get<unknown>(`${path}/${p}/${seq}`)));
            } catch (error) {
                if ((error as { status?: number }).status !== 404) throw error;
                ++gone; // resent or discarded meanwhile
            }
            told(lines.length);
        }
    };
    if (picked.length) {
        await add(picked);
        return { lines, is_all: lines.length + gone === picked.length };
    }
    let after: string | null = '';
    while (after !== null && lines.length < exported_max) {
        const page: LetterPage = await get<LetterPage>(`${path}?limit=${page_size}${cause ? `&cause=${encodeURIComponent(cause)}` : ''}${after ? `&after=${after}` : ''}`);
        await add(page.dead_letters);
        after = page.next;
    }
    return { lines, is_all: after === null };
}
