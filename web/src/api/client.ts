// Calls of the admin interface. A failure is an ApiError with the server's own words, or status 0 when no answer came.
import { authorization } from './session';

export class ApiError extends Error {
    constructor(readonly status: number, readonly code: string, message: string) {
        super(message);
    }
}

const timeout_ms = 15_000;
export const base = '/api/v1';
export const segment = encodeURIComponent;
export const hub_path = (hub: string) => `/hubs/${segment(hub)}`;
export const group_path = (hub: string, group: string) => `/hubs/${segment(hub)}/groups/${segment(group)}`;

export async function failure(answer: Response): Promise<ApiError> {
    let code = String(answer.status), message = `The server answered ${answer.status}.`;
    try {
        const body = await answer.json() as { error?: { code?: string; message?: string } };
        code = body.error?.code ?? code;
        message = body.error?.message ?? message;
    } catch { /* not JSON: the status has to do */ }
    return new ApiError(answer.status, code, message);
}

async function call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response> {
    let answer: Response;
    try {
        answer = await fetch(base + path, {
            method,
            headers: { ...(headers ?? authorization()), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
            signal: AbortSignal.timeout(timeout_ms),
            cache: 'no-store',
            credentials: 'omit',
            redirect: 'error',
        });
    } catch {
        throw new ApiError(0, 'no_answer', 'No answer from the server.');
    }
    if (!answer.ok) throw await failure(answer);
    return answer;
}

export async function get<T>(path: string, headers?: Record<string, string>): Promise<T> {
    return await (await call('GET', path, undefined, headers)).json() as T;
}

export async function send<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T | null> {
    const text = await (await call(method, path, body)).text();
    return text ? JSON.parse(text) as T : null;
}
