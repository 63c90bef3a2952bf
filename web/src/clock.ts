// Time as the page sees it. `steady` never jumps and measures ages; `server_now` is the server's wall clock, carried on by `steady`.

let offset = Date.now() - performance.now();

export const steady = (): number => performance.now();

export function set_server_time(at: string | number): void {
    const ms = typeof at === 'number' ? at : Date.parse(at);
    if (Number.isFinite(ms)) offset = ms - performance.now();
}

export const server_now = (): number => performance.now() + offset;
