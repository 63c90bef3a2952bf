// A hook that asks the server for something, again when its address changes and, if wanted, every so often.
import { useEffect, useState } from 'preact/hooks';
import { ApiError, get } from '../api/client';
import { visible } from '../formats';
import { to_sign_in } from '../state';

export interface Loaded<T> { value: T | null; error: ApiError | null; again(): void }

export function use_get<T>(path: string | null, every_ms?: number): Loaded<T> {
    const [value, set_value] = useState<T | null>(null), [error, set_error] = useState<ApiError | null>(null), [turn, set_turn] = useState(0);
    useEffect(() => { set_value(null); set_error(null); }, [path]);
    useEffect(() => {
        if (path === null) return undefined;
        let current = true;
        const load = () => void get<T>(path).then(
            found => { if (current) { set_value(found); set_error(null); } },
            (failed: unknown) => {
                if (!current || !(failed instanceof ApiError)) return;
                if (failed.status === 401) to_sign_in();
                set_error(failed);
            });
        load();
        const timer = every_ms ? setInterval(() => { if (!document.hidden) load(); }, every_ms) : null;
        return () => { current = false; if (timer) clearInterval(timer); };
    }, [path, turn, every_ms]);
    return { value, error, again: () => set_turn(n => n + 1) };
}

export const use_title = (title: string): void => useEffect(() => { document.title = `${visible(title)} · Evenkeel`; }, [title]);
