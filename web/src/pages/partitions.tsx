// Partitions of one hub, and the groups that are watched on it.
import { hub_path } from '../api/client';
import type { HubDetail, HubPartition, Reader } from '../api/types';
import { bytes, count, moment, pad, plural, rate, setting, visible } from '../formats';
import { use_get, use_title } from '../model/load';
import { Name, Text, Time, Waiting } from '../parts/basics';
import { Failed } from '../parts/failed';
import { address } from '../route';
import { state, use_state } from '../state';

// "aggregator, epoch 14", and how many more.
function Readers({ all, count: total }: { all: Reader[]; count: number }) {
    const first = all[0];
    if (!first) return <>{count(total)}</>;
    const words = all.map(one => `${one.group}${one.epoch === null ? '' : `, epoch ${count(one.epoch)}`}${one.name ? `, ${one.name}` : ''}`).join('\n');
    return <span title={visible(words)}><Name v={first.group} most={20} />{first.epoch === null ? '' : `, epoch ${count(first.epoch)}`}{all.length > 1 ? ` and ${count(all.length - 1)} more` : ''}</span>;
}

export function PartitionsPage({ hub }: { hub: string }) {
    use_state();
    use_title(`Partitions · ${hub}`);
    const detail = use_get<HubDetail>(hub_path(hub)), loaded = use_get<{ partitions: HubPartition[] }>(`${hub_path(hub)}/partitions`, 2000), readers = use_get<{ readers: Reader[] }>(`${hub_path(hub)}/readers`, 2000);
    if (loaded.error && !loaded.value) return <Failed error={loaded.error} again={loaded.again} />;
    if (!loaded.value) return <Waiting>Reading the partitions…</Waiting>;
    const rows = loaded.value.partitions, broken = rows.filter(row => row.error || row.problems?.length);
    const rates = rows.map(row => row.events_in_per_second ?? 0), total = rates.reduce((sum, value) => sum + value, 0), most = Math.max(1e-9, ...rates);
    const events = rows.reduce((sum, row) => sum + (row.is_empty ? 0 : row.last_sequence_number - row.begin_sequence_number + 1), 0);
    const groups = (state.groups ?? []).filter(one => one.hub === hub), keeps = detail.value?.retention_ms;
    return <section class="page"><div class="verdict"><div>
        <h1>{broken.length ? <span class="bad">{plural(broken.length, 'partition')} {broken.length === 1 ? 'has' : 'have'} a problem.</span> : events === 0 ? 'No events yet.' : `${rate(total)} come in.`}</h1>
        <p>{plural(rows.length, 'partition')}, {plural(events, 'event')}, {bytes(rows.reduce((sum, row) => sum + (row.size_bytes ?? 0), 0))}{keeps ? `, kept for ${setting(keeps)}` : ''}.</p></div>
    <div class="act"><a class="btn" href={address('send', hub)}>Send…</a><a class="btn pri" href={address('events', hub)}>Look at the events</a></div></div>
    <div class="scrollx"><table><thead><tr><th scope="col">Partition</th><th scope="col" class="r">In</th><th scope="col" class="barhead">share of what comes in</th><th scope="col" class="r">Out</th><th scope="col">Readers</th><th scope="col" class="r">Oldest</th><th scope="col" class="r">Newest</th><th scope="col" class="r">Oldest event</th><th scope="col" class="r">Newest event</th><th scope="col" class="r">Size</th></tr></thead><tbody>
        {rows.map(row => <tr><th scope="row" class="mono"><a href={address('events', hub, null, { p: String(row.partition) })}>{pad(row.partition, rows.length)}</a></th>
            {row.error ? <td colSpan={9} class="bad"><Text v={row.error} /></td> : <>
                <td class="r">{rate(row.events_in_per_second)}</td><td><svg class="sharebar" width={160} height={10} aria-hidden="true"><rect class="track" width={160} height={10} rx={2} /><rect width={160 * (row.events_in_per_second ?? 0) / most} height={10} rx={2} /></svg></td>
                <td class="r">{rate(row.events_out_per_second)}</td><td class="muted">{row.readers ? <Readers all={readers.value?.readers.filter(one => one.partition === row.partition) ?? []} count={row.readers} /> : '–'}</td>
                <td class="r mono muted">{row.is_empty ? '–' : count(row.begin_sequence_number)}</td><td class="r mono">{row.is_empty ? '–' : count(row.last_sequence_number)}</td>
                <td class="r muted">{row.is_empty ? '–' : <Time v={moment(row.oldest_enqueued_at)} />}</td><td class="r muted">{row.is_empty ? '–' : <Time v={moment(row.last_enqueued_at)} />}</td><td class="r">{bytes(row.size_bytes)}</td></>}</tr>)}
    </tbody></table></div>
    {broken.flatMap(row => row.problems ?? []).slice(0, 10).map(problem => <p class="bad"><Text v={problem} /></p>)}
    {groups.length ? <p class="muted gap">Watched groups: {groups.map((one, i) => <>{i ? ', ' : ''}<a class="link" href={address('processors', one.hub, one.group)}><Name v={one.group} /></a></>)}</p>
        : <p class="muted gap">No group of this hub is watched. Start the server with <code>--watch-store URL</code>, or add <code>[[group]]</code> to its file.</p>}
    </section>;
}
