// What every view shares: the server, its hubs and groups, the live feed and the models it fills.
import { useEffect } from 'preact/hooks';
import { ApiError, get, group_path } from './api/client';
import { Live, type Status } from './api/live';
import type { Group, HubSummary, Overview, Server, Snapshot } from './api/types';
import { server_now, set_server_time, steady } from './clock';
import { moment } from './formats';
import { GroupModel } from './model/group';
import { use_redraw } from './model/use';
import { go } from './route';

const beats_ms = 1000, small_group = 64;

class State {
    server: Server | null = null;
    server_seen = 0;
    groups: Group[] | null = null;
    hubs: Pick<HubSummary, 'name' | 'partitions'>[] | null = null;
    overview: Overview | null = null;
    status: Status = 'connecting';
    offline_since: number | null = null;  // server time
    back: { moves: number; until: number } | null = null;
    refused: ApiError | null = null;
    live: Live | null = null;
    private models = new Map<string, GroupModel>();
    private listeners = new Set<() => void>();
    private topics = '';
    private scheduled = false;
    private moves_known = 0;
    private beats: ReturnType<typeof setInterval> | null = null;

    listen(listener: () => void): () => void {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
    }

    changed(): void {
        if (this.scheduled) return;
        this.scheduled = true;
        requestAnimationFrame(() => {
            this.scheduled = false;
            for (const listener of [...this.listeners]) listener();
        });
    }

    may(right: 'Listen' | 'Manage' | 'Send'): boolean {
        return this.server?.access.rights.includes(right) ?? false;
    }

    // The hub to which this key is limited, or none: it has routes of its own for keys and connections.
    get only_hub(): string | null {
        return this.server?.access.hub ?? null;
    }

    group(hub: string, group: string): GroupModel {
        const topic = group_topic(hub, group);
        let model = this.models.get(topic);
        if (!model) {
            model = new GroupModel();
            model.hub = hub;
            model.group = group;
            this.models.set(topic, model);
        }
        return model;
    }

    // Asks for heartbeats where the feed does not tell them, so that no age counts on that is not true.
    private async beat(): Promise<void> {
        const model = this.models.get(this.topics);
        if (!model?.ready || this.status !== 'live' || document.hidden || steady() - model.beats_at < (model.size > small_group ? 5 : 1) * beats_ms - 100) return;
        model.beats_at = steady();
        try {
            model.refresh(await get<Snapshot>(`${group_path(model.hub, model.group)}/processors`));
        } catch { /* the feed says when the server is away */ }
    }

    // Follows these topics from now on; one feed a page.
    follow(topics: string[]): void {
        const key = topics.join(',');
        if (key === this.topics && this.live) return;
        this.topics = key;
        this.beats ??= setInterval(() => void this.beat(), beats_ms);
        this.live?.close();
        const last = this.live?.last_data;
        this.live = topics.length === 0 ? null : new Live({
            topics,
            event: (name, data) => this.event(name, data, topics),
            status: status => this.set_status(status),
            poll: () => this.poll(topics),
            refused: error => { this.refused = error; if (error.status === 401) to_sign_in(); this.changed(); },
        });
        if (this.live && last !== undefined) this.live.last_data = Math.max(last, steady() - 1000);
    }

    async load(): Promise<void> {
        try {
            const [server, groups, hubs] = await Promise.all([
                get<Server>('/server'), get<{ groups: Group[] }>('/groups'), get<{ hubs: { name: string; partitions: number }[] }>('/hubs')]);
            this.server = server;
            this.server_seen = steady();
            set_server_time(server.now);
            this.groups = groups.groups;
            this.hubs = hubs.hubs;
            this.refused = null;
        } catch (error) {
            if (error instanceof ApiError && error.status === 401) return to_sign_in();
            if (error instanceof ApiError && error.status !== 0) this.refused = error;
        }
        this.changed();
    }

    private event(name: string, data: Record<string, unknown>, topics: string[]): void {
        const topic = String(data['topic'] ?? (topics.length === 1 ? topics[0] : ''));
        if (topic === 'overview') {
            if (typeof data['at'] === 'string') set_server_time(data['at']);
            this.overview = { ...this.overview, ...data } as unknown as Overview;
            if (name !== 'snapshot') lengthen(this.overview);
        }
        else if (topic.startsWith('group:')) this.models.get(topic)?.apply(name, data);
        else if (name === 'dropped') for (const one of topics) this.models.get(one)?.apply(name, data);
        if (name === 'snapshot' && this.offline_since !== null) this.came_back(topic);
        this.changed();
    }

    private set_status(status: Status): void {
        this.status = status;
        if (status === 'offline') {
            this.offline_since = server_now() - (steady() - (this.live?.last_data ?? steady()));
            this.moves_known = this.newest_move();
        } else if (status === 'live' || status === 'polling') {
            if (this.offline_since !== null && !this.topics.includes('group:')) this.offline_since = null;
        }
        this.changed();
    }

    private newest_move(): number {
        let newest = 0;
        for (const model of this.models.values()) newest = Math.max(newest, moment(model.moves[0]?.at) ?? 0);
        return newest;
    }

    private came_back(topic: string): void {
        const moves = this.models.get(topic)?.moves ?? [];
        this.back = { moves: moves.filter(move => (moment(move.at) ?? 0) > this.moves_known).length, until: steady() + 8000 };
        this.offline_since = null;
        void this.load();
    }

    private async poll(topics: string[]): Promise<void> {
        for (const topic of topics) {
            if (topic === 'overview') this.event('snapshot', { topic, ...await get<Overview>('/overview') }, topics);
            const model = this.models.get(topic);
            if (model) this.event('snapshot', { topic, ...await get<Snapshot>(`${group_path(model.hub, model.group)}/processors`) }, topics);
        }
    }
}

const step_ms = 10_000, steps_max = 360;

// A tick has no history: what it says goes on where the last snapshot ended.
function lengthen(overview: Overview): void {
    const history = overview.history, now = Math.round(server_now());
    if (!history || now - (history.t.at(-1) ?? 0) < step_ms) return;
    const end = <T>(list: T[], value: T): T[] => [...list, value].slice(-steps_max);
    overview.history = { ...history, t: end(history.t, now), in: end(history.in, overview.in_per_s), out: end(history.out, overview.out_per_s) };
}

export const state = new State();

export const group_topic = (hub: string, group: string): string => `group:${encodeURIComponent(hub)}/${encodeURIComponent(group)}`;

export function to_sign_in(): void {
    if (location.pathname !== '/ui/sign-in') go(`/ui/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`, true);
}

export function use_state(): State {
    const redraw = use_redraw();
    useEffect(() => state.listen(redraw), []);
    return state;
}
