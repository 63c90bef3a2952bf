// Dark, light, or what the system says. The choice is kept in this browser.

export type Theme = 'system' | 'dark' | 'light';
const place = 'evenkeel.theme';

export function theme(): Theme {
    try {
        const kept = localStorage.getItem(place);
        return kept === 'dark' || kept === 'light' ? kept : 'system';
    } catch { return 'system'; }
}

export function apply_theme(): void {
    const chosen = theme();
    const dark = chosen === 'dark' || (chosen === 'system' && !matchMedia('(prefers-color-scheme: light)').matches);
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light';
}

export function set_theme(chosen: Theme): void {
    try { localStorage.setItem(place, chosen); } catch { /* no storage: the system decides */ }
    apply_theme();
    dispatchEvent(new Event('themechange'));
}

export function watch_system_theme(): void {
    matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => { apply_theme(); dispatchEvent(new Event('themechange')); });
}
