// Resend or discard letters: says beforehand what happens; discarding needs the count typed.
import { useState } from 'preact/hooks';
import { send } from '../../api/client';
import type { Letter } from '../../api/types';
import { plural } from '../../formats';
import { Dialog } from '../../parts/basics';

export function ActDialog({ path, letters, action, body, close, done }: {
    path: string; letters: Pick<Letter, 'p' | 'seq'>[]; action: 'resend' | 'discard'; body?: string; close(): void; done(): void;
}) {
    const [typed, set_typed] = useState(''), [text, set_text] = useState(body ?? ''), [said, set_said] = useState(''), [busy, set_busy] = useState(false);
    const n = letters.length, edits = body !== undefined;
    const act = async () => {
        set_busy(true);
        let finished = 0;
        try {
            for (const letter of letters) {
                const one = `${path}/${letter.p}/${letter.seq}`;
                if (action === 'discard') await send('DELETE', one); else await send('POST', `${one}/resend`, { remove: true, ...(edits ? { body: text } : {}) });
                ++finished;
            }
            done();
        } catch (error) {
            set_said(`${finished ? `${plural(finished, 'letter')} done, then: ` : ''}${(error as Error).message}`);
            set_busy(false);
        }
    };
    return <Dialog title={action === 'discard' ? `Discard ${plural(n, 'letter')}` : edits ? 'Edit, then resend' : `Resend ${plural(n, 'letter')}`} close={close}>
        <p class="muted">{action === 'discard' ? 'They are removed from here for good. While the hub still keeps the events, they can be read there.' : 'A copy goes to the end of the hub with the same key, then the letter is removed here. It comes after newer events of that key.'}</p>
        {edits ? <label class="field-label">Body<textarea class="input full" rows={8} spellcheck={false} value={text} onInput={event => set_text(event.currentTarget.value)} /></label> : null}
        {action === 'discard' ? <label class="field-label">Type {n} to confirm<input class="input full" inputMode="numeric" value={typed} onInput={event => set_typed(event.currentTarget.value)} autofocus /></label> : null}
        {said ? <p class="bad" role="alert">{said}</p> : null}
        <div class="row-actions"><button type="button" class={action === 'discard' ? 'btn danger' : 'btn pri'} disabled={busy || (action === 'discard' && typed !== String(n))} onClick={() => void act()}>{action === 'discard' ? `Discard ${n}` : `Resend ${n}`}</button><button type="button" class="btn" onClick={close}>Cancel</button></div></Dialog>;
}
