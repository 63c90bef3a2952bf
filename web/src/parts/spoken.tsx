// What screen readers are told: the verdict, politely.
import { useEffect, useRef, useState } from 'preact/hooks';
import { steady } from '../clock';

// Says a sentence to screen readers at most once in 5 s, and only when its words without figures change.
class Speaker {
    private last = '';
    private at = -Infinity;

    say(text: string): string | null {
        const words = text.replace(/[\d.,]+/g, '#');
        if (words === this.last || steady() - this.at < 5000) return null;
        this.last = words;
        this.at = steady();
        return text;
    }
}

export function Spoken({ text }: { text: string }) {
    const speaker = useRef(new Speaker()), [words, set_words] = useState('');
    useEffect(() => { const next = speaker.current.say(text); if (next) set_words(next); });
    return <span class="hidden" role="status">{words}</span>;
}
