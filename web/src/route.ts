// Addresses of views. The whole state of a view is in its address, so sharing it shares the view.
import { useEffect, useState } from 'preact/hooks';

export const pages = ['overview', 'hubs', 'partitions', 'events', 'send', 'processors', 'lag', 'letters', 'connections', 'keys', 'sign-in', 'missing'] as const;
export type PageName = typeof pages[number];
export interface Route { page: PageName; hub: string | null; group: string | null; query: URLSearchParams }

export function parse(path: string, search: string): Route {
    const query = new URLSearchParams(search);
    const route = (page: PageName, hub: string | null = null, group: string | null = null): Route => ({ page, hub, group, query });
    let parts: string[];
    try {
        parts = path.replace(/^\/ui\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);
    } catch {
        return route('missing');
    }
    const [first, hub, third, group, last] = parts;
    if (parts.length === 0) return route('overview');
    if (parts.length === 1 && (first === 'hubs' || first === 'connections' || first === 'keys' || first === 'sign-in')) return route(first);
    if (first !== 'hubs' || hub === undefined) return route('missing');
    if (parts.length === 2) return route('partitions', hub);
    if (parts.length === 3 && (third === 'partitions' || third === 'events' || third === 'send')) return route(third, hub);
    if (parts.length === 5 && third === 'groups' && (last === 'processors' || last === 'lag' || last === 'letters')) return route(last, hub, group!);
    return route('missing');
}

export function address(page: PageName, hub?: string | null, group?: string | null, query?: Record<string, string>): string {
    const at = (...parts: string[]) => ['/ui', ...parts.map(encodeURIComponent)].join('/');
    const path = page === 'overview' ? '/ui/'
        : page === 'processors' || page === 'lag' || page === 'letters' ? at('hubs', hub!, 'groups', group!, page)
            : page === 'partitions' || page === 'events' || page === 'send' ? at('hubs', hub!, page) : at(page);
    const search = new URLSearchParams(query).toString();
    return search ? `${path}?${search}` : path;
}

// Only addresses of this page may be gone to after signing in.
export function own_address(text: string | null): string {
    return text && /^\/ui\/(?!\/)/.test(text) && !text.includes('\\') ? text : '/ui/';
}

const listeners = new Set<() => void>();

export function go(to: string, replace = false): void {
    if (to === location.pathname + location.search) return;
    if (replace) history.replaceState(null, '', to); else history.pushState(null, '', to);
    for (const listener of [...listeners]) listener();
}

// Changes parts of the present view's query; null removes one.
export function go_query(changes: Record<string, string | null>, replace = false): void {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(changes)) if (value === null) query.delete(name); else query.set(name, value);
    const search = query.toString();
    go(location.pathname + (search ? `?${search}` : ''), replace);
}

export function use_route(): Route {
    const [, redraw] = useState(0);
    useEffect(() => {
        const changed = () => redraw(n => n + 1);
        listeners.add(changed);
        addEventListener('popstate', changed);
        return () => { listeners.delete(changed); removeEventListener('popstate', changed); };
    }, []);
    return parse(location.pathname, location.search);
}

// Links of the page's own views change the view without loading the page again.
export function catch_links(): void {
    document.addEventListener('click', event => {
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        const link = (event.target as Element).closest?.('a');
        if (!link || link.target || link.origin !== location.origin || !link.pathname.startsWith('/ui/') || link.hasAttribute('download')) return;
        if (link.hash && link.pathname === location.pathname) return;
        event.preventDefault();
        go(link.pathname + link.search);
    });
}
