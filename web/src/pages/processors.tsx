// Processors: the verdict, the picture, who owned what, and the moves; `p=N` opens the side panel.
import { useEffect, useRef, useState } from 'preact/hooks';
import { cut, duration } from '../formats';
import { server_now, steady } from '../clock';
import { use_keys } from '../frame/keys';
import { type GroupModel } from '../model/group';
import { use_interval, use_model } from '../model/use';
import { type Verdict, troubles, verdict } from '../model/verdict';
import { Segments, use_width, Waiting } from '../parts/basics';
import { Spoken } from '../parts/spoken';
import { Grid } from '../picture/grid';
import { Picture } from '../picture/picture';
import { Stripes } from '../picture/stripes';
import { go_query } from '../route';
import { state, use_state } from '../state';
import { Aside } from './processors/aside';
import { PauseDialog } from './processors/actions';
import { Moves } from './processors/moves';
import { PartitionPanel } from './processors/panel';
import { Phone } from './processors/phone';
import { StoreFailed } from './processors/store_failed';
import { PartitionTable } from './processors/table';

export type View = 'picture' | 'grid' | 'table';
const picture_partitions_max = 64, picture_owners_max = 12, phone_width = 560;

export function ProcessorsPage({ hub, group, query }: { hub: string; group: string; query: URLSearchParams }) {
    const model = state.group(hub, group);
    use_state();
    use_model(model);
    const said = verdict(model), live = state.offline_since === null;
    use_interval(said.counting && live ? 100 : 1000, model.ready);
    use_title(model, said);
    const chosen = chosen_of(query, model.size);
    const view = view_of(query, model);
    const [pausing, set_pausing] = useState(false);
    use_page_keys(model, chosen);
    if (model.ready && model.store_state === 'failed') return <StoreFailed model={model} />;
    if (!model.ready) return live ? <Waiting>Reading the store of this group…</Waiting> : <section class="page"><Head model={model} said={said} live={live} view={view} order="owner" chosen={null} pause={() => undefined} /></section>;
    const order = query.get('order') === 'number' ? 'number' : 'owner';
    return <div class="withpanel">
        <section class="page">
            <Head model={model} said={said} live={live} view={view} order={order} chosen={chosen} pause={() => set_pausing(true)} />
            <Body model={model} view={view} order={order} live={live} chosen={chosen} said={said} />
        </section>
        {chosen !== null ? <PartitionPanel key={chosen} model={model} p={chosen} live={live} /> : null}
        {pausing ? <PauseDialog model={model} partition={null} close={() => set_pausing(false)} /> : null}
    </div>;
}

function chosen_of(query: URLSearchParams, size: number): number | null {
    const text = query.get('p');
    return text !== null && /^\d+$/.test(text) && Number(text) < size ? Number(text) : null;
}

function view_of(query: URLSearchParams, model: GroupModel): View {
    const asked = query.get('view');
    const large = model.size > picture_partitions_max || model.members.length > picture_owners_max;
    if (asked === 'table' || asked === 'grid') return asked;
    return large ? 'grid' : 'picture';
}

export const open_partition = (p: number): void => go_query({ p: String(p) }, new URLSearchParams(location.search).has('p'));

function use_title(model: GroupModel, said: Verdict): void {
    useEffect(() => {
        document.title = `${said.needs ? `(${said.needs}) ` : ''}Processors · ${cut(model.hub)} / ${cut(model.group)} · Evenkeel`;
    }, [said.needs, model]);
}

function use_page_keys(model: GroupModel, chosen: number | null): void {
    const step = (by: number) => () => {
        if (model.size) open_partition(chosen === null ? (by > 0 ? 0 : model.size - 1) : Math.min(model.size - 1, Math.max(0, chosen + by)));
    };
    const problem = (by: number) => () => {
        const found = troubles(model).map(one => one.p).sort((a, b) => a - b);
        if (found.length === 0) return;
        const at = chosen === null ? (by > 0 ? -1 : found.length) : by > 0 ? found.findLastIndex(p => p <= chosen) : found.findIndex(p => p >= chosen);
        open_partition(found[(at + by + found.length) % found.length] ?? found[0]!);
    };
    use_keys({
        j: step(1), k: step(-1), ArrowDown: step(1), ArrowUp: step(-1), n: problem(1), N: problem(-1),
        w: () => { if (chosen === null && model.size) open_partition(troubles(model)[0]?.p ?? 0); },
        1: () => go_query({ view: 'picture' }), 2: () => go_query({ view: 'grid' }), 3: () => go_query({ view: 'table' }),
        ...(chosen === null ? {} : { Escape: () => go_query({ p: null }) }),
    });
}

const views = [['picture', 'Picture'], ['grid', 'Grid'], ['table', 'Table']] as const;

function Head({ model, said, live, view, order, chosen, pause }: {
    model: GroupModel; said: Verdict; live: boolean; view: View; order: 'owner' | 'number'; chosen: number | null; pause(): void;
}) {
    const back = state.back && state.back.until > steady() ? state.back : null;
    const spoken = live ? said.spoken : 'No answer from the server.';
    const dropped = steady() - model.dropped_at < 5000 ? model.dropped : 0;
    const next_try = state.live?.next_try ? Math.max(0, state.live.next_try - steady()) : null;
    const since = state.offline_since === null ? '' : new Date(state.offline_since).toTimeString().slice(0, 8);
    return <div class="verdict">
        <div>
            <h1>{live ? said.head.map(piece => piece.tone ? <span class={piece.tone}>{piece.text}</span> : piece.text) : `No answer from the server since ${since}.`}</h1>
            <p>{!live ? `You see what was known then. ${next_try === null || next_try < 500 ? 'Trying again now.' : `Trying again in ${duration(Math.ceil(next_try / 1000) * 1000, 'left').replace('.0', '')}.`} Owners go on without this page.`
                : back ? `Back. ${back.moves === 1 ? '1 move' : `${back.moves} moves`} meanwhile.` : said.sub}
                {dropped ? <span class="warn"> {dropped} updates were skipped.</span> : null}</p>
        </div>
        <Spoken text={spoken} />
        <div class="act">
            {live && chosen === null ? <Segments label="View" options={views} value={view} choose={value => go_query({ view: value })} /> : null}
            {live && view === 'grid' && chosen === null ? <Segments label="Order" options={[['owner', 'By owner'], ['number', 'By number']] as const} value={order} choose={value => go_query({ order: value })} /> : null}
            {!live ? <button type="button" class="btn pri" onClick={() => state.live?.try_now()}>Try now</button>
                : view !== 'grid' && state.may('Manage') && model.size ? <button type="button" class="btn" onClick={pause}>{all_paused(model) ? 'Resume…' : 'Pause…'}</button> : null}
        </div>
    </div>;
}

export const all_paused = (model: GroupModel): boolean => model.size > 0 && model.state.every(value => value === 3);

function Body({ model, view, order, live, chosen, said }: { model: GroupModel; view: View; order: 'owner' | 'number'; live: boolean; chosen: number | null; said: Verdict }) {
    const [box, width] = use_width();
    const phone = width > 0 && width < phone_width;
    return <div ref={box} class={live ? 'body' : 'body stale'}>
        {width === 0 ? null
            : view === 'table' ? <PartitionTable model={model} chosen={chosen} live={live} />
                : phone && model.size <= picture_partitions_max ? <Phone model={model} chosen={chosen} />
                    : view === 'grid' ? <GridView model={model} order={order} width={width} chosen={chosen} />
                        : <PictureView model={model} width={width} live={live} chosen={chosen} caption={said.spoken} />}
        {width > 0 && (view === 'picture' || phone) ? <History model={model} width={width} phone={phone} live={live} /> : null}
    </div>;
}

function PictureView({ model, width, live, chosen, caption }: { model: GroupModel; width: number; live: boolean; chosen: number | null; caption: string }) {
    const box = useRef<HTMLDivElement>(null), picture = useRef<Picture | null>(null);
    useEffect(() => {
        const made = picture.current = new Picture(model, open_partition);
        box.current!.replaceChildren(made.root);
        return () => { made.stop(); picture.current = null; };
    }, [model]);
    useEffect(() => {
        picture.current?.paint(width, live, chosen, caption);
        picture.current?.tick(live);
    });
    return <div ref={box} />;
}

function GridView({ model, order, width, chosen }: { model: GroupModel; order: 'owner' | 'number'; width: number; chosen: number | null }) {
    const box = useRef<HTMLDivElement>(null), grid = useRef<Grid | null>(null);
    const side = width >= 760 ? 272 : 0;
    useEffect(() => {
        const made = grid.current = new Grid(model, open_partition);
        box.current!.replaceChildren(made.root);
        return () => { grid.current = null; };
    }, [model]);
    useEffect(() => grid.current?.paint(width - side, order, chosen));
    return <div class={side ? 'gridsplit' : ''}><div ref={box} class="gridhold" /><Aside model={model} /></div>;
}

function History({ model, width, phone, live }: { model: GroupModel; width: number; phone: boolean; live: boolean }) {
    const box = useRef<HTMLDivElement>(null), stripes = useRef<Stripes | null>(null), painted = useRef('');
    const stripe_width = innerWidth < 760 ? width : width < 760 ? 190 : width < 1000 ? 270 : Math.round(width * 0.4);
    useEffect(() => {
        if (phone) return;
        const made = stripes.current ??= new Stripes(model);
        if (box.current && made.root.parentNode !== box.current) box.current.replaceChildren(made.root);
        const silent = model.members.some(member => member.state === 'silent');
        const key = `${stripe_width} ${model.shape} ${model.moves.length} ${Math.floor(steady() / (silent ? 500 : 5000))}`;
        if (key === painted.current) return;
        painted.current = key;
        made.paint(stripe_width - 4, live ? server_now() : state.offline_since ?? server_now());
    });
    return <div class={phone ? 'history phone' : 'history'} >
        {phone ? null : <div class="who"><h2>Who owned what <span class="faint">last 10 min</span></h2><div ref={box} /></div>}
        <Moves model={model} narrow={width < 760} short={width < 1000} live={live} />
    </div>;
}
