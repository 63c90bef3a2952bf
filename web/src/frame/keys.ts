// Keyboard: pages say which keys they take; none works while typing, and single letters can be turned off.
import { useLayoutEffect } from 'preact/hooks';

export type Keys = Record<string, () => void>;

const layers: Keys[] = [];
let prefix: { key: string; until: number } | null = null;
const place = 'evenkeel.letters';

export function letters_on(): boolean {
    try { return localStorage.getItem(place) !== 'off'; } catch { return true; }
}

export function set_letters(on: boolean): void {
    try { localStorage.setItem(place, on ? 'on' : 'off'); } catch { /* no storage: for this page only */ }
}

const typing = (target: EventTarget | null): boolean =>
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && (target as HTMLInputElement).type !== 'checkbox');

export function listen_to_keys(): void {
    document.addEventListener('keydown', event => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (document.querySelector('dialog[open]')) return;
        if (typing(event.target) && event.key !== 'Escape') return;
        if (event.key.length === 1 && /[a-zA-Z0-9]/.test(event.key) && !letters_on()) return;
        // A button that has the focus keeps Enter and space for itself.
        if ((event.key === 'Enter' || event.key === ' ') && event.target instanceof HTMLElement && event.target.closest('button, a, summary')) return;
        let name = event.key === ' ' ? 'space' : event.key;
        if (prefix && prefix.until > performance.now()) name = `${prefix.key} ${name}`;
        prefix = null;
        if (name === 'g') { prefix = { key: 'g', until: performance.now() + 1500 }; return; }
        for (const layer of [...layers].reverse()) {
            const action = layer[name];
            if (!action) continue;
            event.preventDefault();
            action();
            return;
        }
    });
}

// Takes these keys while the component is shown; the newest component comes first.
export function use_keys(keys: Keys): void {
    useLayoutEffect(() => {  // before the reader sees it: a key never acts on what was shown before
        layers.push(keys);
        return () => { layers.splice(layers.indexOf(keys), 1); };
    });
}
