// What a page shows when the server refuses or fails: what happened, and what to do next.
import type { ApiError } from '../api/client';
import { state, to_sign_in } from '../state';
import { Name, Note, Text } from './basics';

export function Failed({ error, again, right }: { error: ApiError; again(): void; right?: string }) {
    const rule = state.server?.access.rule;
    const other = <button type="button" class="btn" onClick={to_sign_in}>Use another key</button>;
    if (error.status === 401) return <Note title="This key is not known here." actions={other}><p class="lead">It may have been rotated. Copy it again, or use another one.</p></Note>;
    if (error.status === 403) return <Note title={`This key may not ${right ?? 'do this'}.`} actions={other}><p class="lead"><Text v={error.message} />{rule ? <> Your rule is <Name v={rule} />.</> : null}</p></Note>;
    const retry = <button type="button" class="btn pri" onClick={again}>Try now</button>;
    if (error.status === 0) return <Note title="No answer from the server." actions={retry}><p class="lead">Check that it runs and that this machine reaches it. The page tries again by itself.</p></Note>;
    if (error.status === 404) return <Note title="It is not here." actions={retry}><p class="lead"><Text v={error.message} /></p></Note>;
    return <Note title="The server could not answer." actions={retry}><p class="lead"><Text v={error.message} /></p></Note>;
}
