// Connections: who is connected, from where, and what each link does.
import { useState } from 'preact/hooks';
import { hub_path } from '../api/client';
import type { ConnectionPage, Link } from '../api/types';
import { server_now } from '../clock';
import { count, duration, moment, pad, plural, rate, unknown } from '../formats';
import { use_get, use_title } from '../model/load';
import { Name, Text, Waiting } from '../parts/basics';
import { Failed } from '../parts/failed';
import { state } from '../state';

function what(link: Link): preact.ComponentChildren {
    const where = <><Name v={link.hub} most={20} />{link.partition === null ? '' : ` ${pad(link.partition, link.partition + 1)}`}</>;
    return link.role === 'sender' ? <>sends to {where}</> : <>reads {where}{link.group ? <> for <Name v={link.group} most={20} /></> : ''}{link.epoch === null ? '' : `, epoch ${count(link.epoch)}`}</>;
}

const most = 1000;

function since(at: string): string {
    const ms = moment(at);
    return ms === null ? unknown : duration(server_now() - ms);
}

export function ConnectionsPage() {
    use_title('Connections');
    const [shown, show] = useState(200), path = `${state.only_hub === null ? '' : hub_path(state.only_hub)}/connections`, loaded = use_get<ConnectionPage>(state.server ? `${path}?limit=${shown}` : null, 2000);
    if (loaded.error && !loaded.value) return <Failed error={loaded.error} again={loaded.again} right="manage" />;
    if (!loaded.value) return <Waiting>Reading the connections…</Waiting>;
    const all = loaded.value.connections, total = loaded.value.total, links = all.flatMap(one => one.links), reading = all.filter(one => one.links.some(link => link.role === 'receiver')).length;
    const starved = links.filter(link => link.role === 'receiver' && link.credit === 0).length;
    return <section class="page"><div class="verdict"><div><h1>{all.length ? `${plural(total, 'connection')}, ${total > all.length ? `the oldest ${count(all.length)} shown` : `${reading} ${reading === 1 ? 'reads' : 'read'}`}.` : 'Nobody is connected.'}</h1>
        <p>{all.length ? `${plural(links.length, 'link')}. ${starved ? `${plural(starved, 'reader')} ${starved === 1 ? 'has' : 'have'} no credit: ${starved === 1 ? 'it asks' : 'they ask'} for nothing at the moment.` : 'Every reader asks for events.'}` : 'Programs that send or read appear here at once.'}</p></div></div>
    {all.length ? <div class="scrollx"><table><thead><tr><th scope="col">From</th><th scope="col">Program</th><th scope="col">Key</th><th scope="col">By</th><th scope="col" class="r">Open for</th><th scope="col">Link</th><th scope="col" class="r">Credit</th><th scope="col" class="r">Events</th><th scope="col" class="r">Rate</th></tr></thead><tbody>
        {all.map(one => (one.links.length ? one.links : [null]).map((link, i) => <tr class={i ? 'again' : ''}>
            {i ? <><td /><td /><td /><td /><td /></> : <><td class="mono"><Text v={one.peer} /></td><td><Name v={one.product ?? one.container} /></td><td class="muted">{one.rule ? <Name v={one.rule} most={26} /> : '–'}</td><td class="muted">{one.transport}</td><td class="r muted">{since(one.opened_at)}</td></>}
            {link ? <><td>{what(link)}</td><td class={`r ${link.role === 'receiver' && link.credit === 0 ? 'warn' : 'muted'}`}>{count(link.credit)}</td><td class="r">{count(link.events)}</td><td class="r">{rate(link.events_per_s)}</td></> : <td colSpan={4} class="faint">no link</td>}</tr>).concat(one.link_count > one.links.length ? [<tr class="again"><td colSpan={5} /><td colSpan={4} class="faint">and {count(one.link_count - one.links.length)} more links</td></tr>] : []))}
    </tbody></table></div> : null}
    {total > all.length ? shown < most ? <button class="link gap" onClick={() => show(most)}>Show more</button> : <p class="muted gap">The rest is behind <code>/api/v1{path}?after={all.at(-1)?.id}</code>.</p> : null}</section>;
}
