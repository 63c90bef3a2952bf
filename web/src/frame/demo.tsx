// The demo's buttons: one bar in the accent colour, drawn only when the server says that it runs the demo.
import { useState } from 'preact/hooks';
import { ApiError, send } from '../api/client';
import { state } from '../state';

export function Demo() {
    const [said, set_said] = useState('');
    const actions = state.server?.demo?.actions ?? [];
    const run = async (id: string) => {
        try {
            await send('POST', '/demo', { action: id });
            set_said('Asked.');
        } catch (error) {
            set_said(error instanceof ApiError ? error.message : 'It did not work.');
        }
        setTimeout(() => set_said(''), 4000);
    };
    return <div class="demo" role="group" aria-label="Demo">
        <b>Demo</b>
        {actions.map(({ id, label }) => <button type="button" class="btn" onClick={() => void run(id)}>{label}</button>)}
        <span role="status">{said}</span>
    </div>;
}
