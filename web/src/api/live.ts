// One live feed for the page: server-sent events read with fetch, because an EventSource cannot send Authorization.
//
//     connecting ──▶ live ──(no data for 3 s, no answer)──▶ offline ──▶ connecting …
//
// After three failures in a row the topics are asked for every 5 s instead ("polling"); the feed is tried again meanwhile.
// The server writes to an idle feed every 15 s. A feed that brings nothing for longer is half-open: it is closed and opened
// again, even if the server answers other requests. A hidden tab's feed is closed after 30 s.
import { steady } from '../clock';
import { ApiError, base, failure, get } from './client';
import { authorization } from './session';
import { StreamParser } from './stream';

type Timer = ReturnType<typeof setTimeout>;
export type Status = 'connecting' | 'live' | 'polling' | 'offline';

export interface Listener {
    topics: string[];
    event(name: string, data: Record<string, unknown>): void;
    status(status: Status): void;
    // Asks for the whole state by ordinary requests, when the feed does not work.
    poll?(): Promise<void>;
    refused?(error: ApiError): void;
}

const back_off_ms = [1000, 2000, 4000, 8000, 15_000];
const silence_ms = 3000, hidden_ms = 30_000, poll_ms = 5000, probe_ms = 2500, polling_after = 3;
const first_byte_ms = 10_000, half_open_ms = 20_000;

export class Live {
    status: Status = 'connecting';
    last_data = steady();
    next_try: number | null = null;
    private failures = 0;
    private last_id: string | null = null;
    private abort: AbortController | null = null;
    private fed_by: number | null = null;  // when an open feed must have brought something
    private retry: Timer | null = null;
    private poll_timer: Timer | null = null;
    private closed = false;
    private hidden_timer: Timer | null = null;
    private watch: ReturnType<typeof setInterval>;
    private probing = false;

    constructor(private readonly listener: Listener) {
        this.watch = setInterval(() => this.check(), 500);
        document.addEventListener('visibilitychange', this.visibility);
        void this.connect();
    }

    close(): void {
        this.closed = true;
        clearInterval(this.watch);
        for (const timer of [this.retry, this.poll_timer, this.hidden_timer]) if (timer) clearTimeout(timer);
        document.removeEventListener('visibilitychange', this.visibility);
        this.abort?.abort();
    }

    // Tries at once instead of at the end of the back-off. Polling goes on until a feed works.
    try_now(): void {
        if (this.retry) clearTimeout(this.retry);
        this.retry = null;
        this.abort?.abort();
        void this.connect();
    }

    private visibility = (): void => {
        if (document.hidden) {
            this.hidden_timer = setTimeout(() => { this.hidden_timer = null; if (this.retry) clearTimeout(this.retry); this.abort?.abort(); }, hidden_ms);
        } else if (this.hidden_timer) {
            clearTimeout(this.hidden_timer);
            this.hidden_timer = null;
        } else this.try_now();
    };

    private set(status: Status): void {
        if (status === this.status || this.closed) return;
        this.status = status;
        this.listener.status(status);
    }

    private heard(): void {
        this.last_data = steady();
    }

    private async connect(): Promise<void> {
        const abort = this.abort = new AbortController();
        this.next_try = null;
        this.fed_by = steady() + first_byte_ms;
        try {
            const topics = this.listener.topics.join(',');
            const answer = await fetch(`${base}/live?topics=${encodeURIComponent(topics)}`, {
                headers: { ...authorization(), Accept: 'text/event-stream', ...(this.last_id ? { 'Last-Event-ID': this.last_id } : {}) },
                signal: abort.signal, cache: 'no-store', credentials: 'omit', redirect: 'error',
            });
            if (!answer.ok || !answer.body) throw await failure(answer);
            await this.read(answer.body);
        } catch (error) {
            if (error instanceof ApiError && [401, 403].includes(error.status)) this.listener.refused?.(error);
        }
        if (this.closed || this.abort !== abort || (document.hidden && !this.hidden_timer)) return;
        this.fed_by = null;
        if (this.status === 'live') this.set('connecting');
        ++this.failures;
        this.again();
    }

    private async read(body: ReadableStream<Uint8Array>): Promise<void> {
        const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
        const parser = new StreamParser();
        for (;;) {
            const { value, done } = await reader.read();
            if (done || this.closed) return;
            this.heard();
            this.fed_by = steady() + half_open_ms;
            for (const found of parser.push(value)) {
                if (found.id !== null) this.last_id = found.id;
                this.failures = 0;
                this.set('live');
                this.listener.event(found.event, JSON.parse(found.data) as Record<string, unknown>);
            }
        }
    }

    private again(): void {
        const step = back_off_ms[Math.min(this.failures - 1, back_off_ms.length - 1)]!;
        const wait = step * (0.8 + 0.4 * Math.random());
        this.next_try = steady() + wait;
        this.retry = setTimeout(() => void this.connect(), wait);
        if (this.failures >= polling_after && this.listener.poll && !this.poll_timer) this.polling();
    }

    private polling(): void {
        this.poll_timer = null;
        if (this.failures === 0 || this.closed) return;
        if (!document.hidden) void this.listener.poll!().then(() => { this.heard(); if (this.failures > 0) this.set('polling'); }, () => undefined);
        this.poll_timer = setTimeout(() => this.polling(), poll_ms);
    }

    // A feed without news is not a server that is away, so the server is asked before the page says so.
    private check(): void {
        if (this.fed_by !== null && steady() > this.fed_by) {
            this.fed_by = null;
            this.abort?.abort();
        }
        if (this.probing || this.status === 'offline' || document.hidden || steady() - this.last_data < silence_ms) return;
        this.probing = true;
        const answered = get('/server').then(() => true, (error: unknown) => error instanceof ApiError && error.status !== 0);
        const too_late = new Promise<boolean>(done => setTimeout(() => done(false), probe_ms));
        void Promise.race([answered, too_late]).then(alive => {
            this.probing = false;
            if (alive) this.heard();
            else if (steady() - this.last_data >= silence_ms) this.set('offline');
        });
    }
}
