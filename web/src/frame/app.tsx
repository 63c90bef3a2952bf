// The frame around every page: navigation, top bar, and the page that the address names.
import { useEffect, useState } from 'preact/hooks';
import { duration } from '../formats';
import { steady } from '../clock';
import { Name, Note } from '../parts/basics';
import { ConnectionsPage } from '../pages/connections';
import { EventsPage } from '../pages/events';
import { HubsPage } from '../pages/hubs';
import { KeysPage } from '../pages/keys';
import { LagPage } from '../pages/lag';
import { LettersPage } from '../pages/letters';
import { OverviewPage } from '../pages/overview';
import { PartitionsPage } from '../pages/partitions';
import { ProcessorsPage } from '../pages/processors';
import { SendPage } from '../pages/send';
import { SignInPage } from '../pages/sign_in';
import { Logo } from '../parts/basics';
import { address, go, type PageName, type Route, use_route } from '../route';
import { group_topic, state, use_state } from '../state';
import { Bar } from './bar';
import { Demo } from './demo';
import { Find } from './find';
import { KeyList } from './key_list';
import { use_keys } from './keys';
import { set_theme, theme } from './theme';

const refresh_ms = 10_000, waiting_ms = 2000;  // while something is awaited that does not exist yet

// The hub and group that pages without one in their address would use: the last seen, else the first.
function present(route: Route): { hub: string | null; group: string | null } {
    const groups = state.groups ?? [];
    const hub = route.hub ?? remembered.hub ?? groups[0]?.hub ?? state.hubs?.[0]?.name ?? null;
    const group = route.group ?? (remembered.hub === hub ? remembered.group : null) ?? groups.find(one => one.hub === hub)?.group ?? null;
    return { hub, group };
}

const remembered: { hub: string | null; group: string | null } = { hub: null, group: null };

function Item({ route, name, page, hub, group, number }: { route: Route; name: string; page: PageName; hub?: string | null; group?: string | null; number?: number | null }) {
    const here = route.page === page;
    return <a class={here ? 'on' : ''} href={address(page, hub, group)} {...(here ? { 'aria-current': 'page' as const } : {})}>
        {name}{number ? <span class="n" title={`${number} open`}>{number}</span> : null}</a>;
}

function Nav({ route }: { route: Route }) {
    const { hub, group } = present(route), server = state.server;
    const entry = state.groups?.find(one => one.hub === hub && one.group === group);
    const letters = hub && group ? state.group(hub, group).dead_letters ?? entry?.dead_letters ?? null : null;
    const up = server ? server.up_seconds * 1000 + steady() - state.server_seen : null;
    return <nav class="nav" aria-label="Pages">
        <a class="brand" href="/ui/"><Logo size={22} />Evenkeel</a>
        <Item route={route} name="Overview" page="overview" /><Item route={route} name="Hubs" page="hubs" />
        {hub ? <>
            <div class="cap"><Name v={hub} most={22} /></div>
            <Item route={route} name="Partitions" page="partitions" hub={hub} /><Item route={route} name="Events" page="events" hub={hub} /><Item route={route} name="Send" page="send" hub={hub} />
        </> : null}
        {hub && group ? <>
            <div class="cap">Groups</div>
            <Item route={route} name="Processors" page="processors" hub={hub} group={group} /><Item route={route} name="Lag" page="lag" hub={hub} group={group} />
            <Item route={route} name="Dead letters" page="letters" hub={hub} group={group} number={letters} />
        </> : null}
        <div class="cap">Server</div>
        <Item route={route} name="Connections" page="connections" /><Item route={route} name="Keys" page="keys" />
        <div class="foot"><bdi>{location.host}</bdi><br />{server ? `v${server.version} · up ${duration(up, 'left')}` : ''}</div>
    </nav>;
}

function More({ route }: { route: Route }) {
    const [open, set_open] = useState(false);
    const { hub, group } = present(route);
    useEffect(() => set_open(false), [route.page, route.hub, route.group]);
    const link = (name: string, page: PageName) => <Item route={route} name={name} page={page} hub={hub} group={group} />;
    return <nav class="bottom" aria-label="Main pages">
        {link('Overview', 'overview')}
        {hub && group ? link('Processors', 'processors') : link('Hubs', 'hubs')}
        {hub ? link('Events', 'events') : null}
        <button type="button" aria-expanded={open} onClick={() => set_open(!open)}>More</button>
        {open ? <div class="morebox">{link('Hubs', 'hubs')}{hub ? <>{link('Partitions', 'partitions')}{link('Send', 'send')}</> : null}
            {hub && group ? <>{link('Lag', 'lag')}{link('Dead letters', 'letters')}</> : null}{link('Connections', 'connections')}{link('Keys', 'keys')}</div> : null}
    </nav>;
}

function Page({ route }: { route: Route }) {
    const { page, hub, group, query } = route;
    if (page === 'overview') return <OverviewPage query={query} />;
    if (page === 'hubs') return <HubsPage />;
    if (page === 'connections') return <ConnectionsPage />;
    if (page === 'keys') return <KeysPage />;
    if (hub !== null) {
        const known = state.hubs?.some(one => one.name === hub) ?? true;
        if (!known) return <UnknownHub hub={hub} />;
        if (page === 'partitions') return <PartitionsPage key={hub} hub={hub} />;
        if (page === 'events') return <EventsPage key={hub} hub={hub} query={query} />;
        if (page === 'send') return <SendPage key={hub} hub={hub} />;
        if (group !== null) {
            if (unwatched(route)) return <UnwatchedGroup hub={hub} group={group} />;
            const key = `${hub} ${group}`;
            if (page === 'processors') return <ProcessorsPage key={key} hub={hub} group={group} query={query} />;
            if (page === 'lag') return <LagPage key={key} hub={hub} group={group} query={query} />;
            if (page === 'letters') return <LettersPage key={key} hub={hub} group={group} query={query} />;
        }
    }
    return <Note title="There is no such page." actions={<a class="btn pri" href="/ui/">Go to the overview</a>}><p class="lead">The address may be cut off or of another version.</p></Note>;
}

function UnknownHub({ hub }: { hub: string }) {
    const names = (state.hubs ?? []).map(one => one.name);
    const near = names.filter(name => name.toLowerCase().includes(hub.toLowerCase().slice(0, 3)));
    const shown = (near.length ? near : names).slice(0, 10);
    return <Note title={<>There is no hub "<Name v={hub} />".</>}>
        <p class="lead">{shown.length ? (near.length ? 'Do you mean one of these?' : 'These are here:') : 'This server has no hub yet.'}</p>
        <ul class="plain">{shown.map(name => <li><a class="link" href={address('partitions', name)}><Name v={name} /></a></li>)}</ul></Note>;
}

function UnwatchedGroup({ hub, group }: { hub: string; group: string }) {
    const others = state.groups ?? [];
    return <Note title={others.length ? <>No watched store has <Name v={hub} /> / <Name v={group} />.</> : 'No store is being watched.'}>
        <p class="lead">The hub keeps no progress itself. Start with <code>--watch-store URL</code>, or add <code>[[group]]</code> to the server's file.</p>
        {others.length ? <ul class="plain">{others.map(one => <li><a class="link" href={address('processors', one.hub, one.group)}><Name v={one.hub} /> / <Name v={one.group} /></a></li>)}</ul> : null}</Note>;
}

// A store that is watched may learn of a group later.
function unwatched(route: Route): boolean {
    return route.group !== null && state.groups !== null && !state.groups.some(one => one.hub === route.hub && one.group === route.group);
}

function topics_of(route: Route): string[] {
    if (route.page === 'sign-in') return [];
    return route.hub !== null && route.group !== null && !unwatched(route) ? [group_topic(route.hub, route.group)] : ['overview'];
}

function use_frame_keys(route: Route, open: (what: 'find' | 'keys') => void): void {
    const { hub, group } = present(route);
    const to = (page: PageName) => () => {
        if (['partitions', 'events', 'send'].includes(page) && !hub) return;
        if (['processors', 'lag', 'letters'].includes(page) && !(hub && group)) return;
        go(address(page, hub, group));
    };
    const other_group = (by: number) => () => {
        const groups = state.groups ?? [];
        if (groups.length < 2) return;
        const at = groups.findIndex(one => one.hub === hub && one.group === group);
        const next = groups[(at + by + groups.length) % groups.length]!;
        go(address(route.group ? route.page : 'processors', next.hub, next.group));
    };
    use_keys({
        'g o': to('overview'), 'g h': to('hubs'), 'g e': to('events'), 'g s': to('send'), 'g p': to('processors'), 'g l': to('lag'),
        'g d': to('letters'), 'g c': to('connections'), 'g k': to('keys'), '[': other_group(-1), ']': other_group(1),
        '/': () => open('find'), '?': () => open('keys'),
        y: () => void navigator.clipboard?.writeText(location.href).catch(() => undefined),
        t: () => set_theme(theme() === 'system' ? 'dark' : theme() === 'dark' ? 'light' : 'system'),
    });
}

export function App() {
    const route = use_route();
    use_state();
    const [dialog, set_dialog] = useState<'find' | 'keys' | null>(null);
    use_frame_keys(route, set_dialog);
    const waits = unwatched(route) || state.groups?.length === 0 || state.server === null;
    useEffect(() => {
        if (route.page === 'sign-in') return undefined;
        void state.load();
        const timer = setInterval(() => { if (!document.hidden) void state.load(); }, waits ? waiting_ms : refresh_ms);
        return () => clearInterval(timer);
    }, [route.page === 'sign-in', waits]);
    if (route.hub !== null) { remembered.hub = route.hub; if (route.group !== null) remembered.group = route.group; }
    const topics = topics_of(route);
    if (route.hub !== null && route.group !== null) state.group(route.hub, route.group);  // before its first event comes
    useEffect(() => state.follow(topics), [topics.join(',')]);
    if (route.page === 'sign-in') return <SignInPage to={route.query.get('to')} />;
    return <>
        <a class="skip" href="#main" onClick={event => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the page</a>
        <Nav route={route} />
        <main class="main" id="main" tabIndex={-1}>
            <Bar route={route} hub={present(route).hub} group={present(route).group} open={set_dialog} />
            {state.server?.demo ? <Demo /> : null}
            <Page route={route} />
        </main>
        <More route={route} />
        {dialog === 'find' ? <Find close={() => set_dialog(null)} hub={present(route).hub} group={present(route).group} /> : null}
        {dialog === 'keys' ? <KeyList close={() => set_dialog(null)} /> : null}
    </>;
}
