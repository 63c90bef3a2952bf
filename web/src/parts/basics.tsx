// Small parts that every page uses.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { cut, iso, type Moment, time, visible } from '../formats';
import { server_now } from '../clock';
import type { Mark } from '../model/owners';
import { colour_class } from '../picture/dom';

export function Logo({ size }: { size: number }) {
    return <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
        <path d="M1.5 8.5h21" /><path d="M4 8.5c.4 5 3.6 8.5 8 8.5s7.6-3.5 8-8.5" /><path d="M12 17v4.5" /></svg>;
}

export function Chevron() {
    return <svg class="chev" viewBox="0 0 8 8" fill="none" stroke="currentColor" stroke-width="1.4" aria-hidden="true"><path d="M1 2.5 4 5.5 7 2.5" /></svg>;
}

// A name from outside.
export function Name({ v, most, class: classes }: { v: string; most?: number; class?: string }) {
    const text = cut(v, most);
    return <bdi class={classes ?? ''} {...(text === v ? {} : { title: visible(v) })}>{text}</bdi>;
}

// A sentence from outside: an error, a cause, a reason.
export function Text({ v }: { v: string }) {
    return <bdi>{visible(v)}</bdi>;
}

export function Badge({ mark, gone, id }: { mark: Mark | null; gone?: boolean; id?: string | null }) {
    return <span class={`badge ${gone || !mark ? 'gone' : colour_class(mark)}`} title={id ? visible(id) : ''}>{mark?.letters ?? '?'}</span>;
}

export function Time({ v, exact }: { v: Moment; exact?: boolean }) {
    return <time title={iso(v)} dateTime={iso(v)}>{time(v, server_now(), exact)}</time>;
}

export function Segments<T extends string>({ label, options, value, choose }: { label: string; options: readonly (readonly [T, string])[]; value: T; choose(value: T): void }) {
    return <div class="seg" role="group" aria-label={label}>
        {options.map(([name, text]) => <button type="button" class={name === value ? 'on' : ''} aria-pressed={name === value} onClick={() => choose(name)}>{text}</button>)}
    </div>;
}

export function Kbd({ children }: { children: ComponentChildren }) {
    return <kbd class="kbd">{children}</kbd>;
}

const said_ms = 2000, failure_said_ms = 6000;

// Copies text, and says so for a moment. If the text cannot be had, it says why.
export function CopyButton({ text, label, class: classes }: { text: () => string | Promise<string>; label: string; class?: string }) {
    const [done, set_done] = useState('');
    const say = (words: string, ms: number) => { set_done(words); setTimeout(() => set_done(''), ms); };
    const copy = async () => {
        let found: string;
        try { found = await text(); } catch (error) { return say(cut((error as Error).message, 120), failure_said_ms); }
        try {
            await navigator.clipboard.writeText(found);
            say('Copied', said_ms);
        } catch {
            say('Not allowed by the browser', said_ms);
        }
    };
    return <button type="button" class={classes ?? 'btn'} onClick={() => void copy()}>{done || label}</button>;
}

// The panel at the side: takes focus when it opens, gives it back when it closes.
export function Panel({ label, title, wide, close, keys, children, actions }: {
    label: string; title: ComponentChildren; wide?: boolean; close(): void; keys?: string[]; children: ComponentChildren; actions?: ComponentChildren;
}) {
    const heading = useRef<HTMLHeadingElement>(null);
    useEffect(() => {
        const before = document.activeElement as HTMLElement | null;
        heading.current?.focus({ preventScroll: true });
        return () => { if (before?.isConnected) before.focus({ preventScroll: true }); };
    }, []);
    return <aside class={`panel ${wide ? 'wide' : ''}`} aria-label={label}>
        <div class="panelhead"><h2 ref={heading} tabIndex={-1}>{title}</h2><span class="sp" />
            {keys?.map(key => <Kbd>{key}</Kbd>)}
            <button type="button" class="kbd close" onClick={close} aria-label="Close">Esc</button></div>
        <div class="panelbody">{children}</div>
        {actions ? <div class="panelactions">{actions}</div> : null}
    </aside>;
}

export function Dialog({ title, close, children, wide }: { title: string; close(): void; children: ComponentChildren; wide?: boolean }) {
    const box = useRef<HTMLDialogElement>(null);
    useLayoutEffect(() => {
        const dialog = box.current!;
        dialog.showModal();
        const cancelled = (event: Event) => { event.preventDefault(); close(); };
        dialog.addEventListener('cancel', cancelled);
        return () => { dialog.removeEventListener('cancel', cancelled); dialog.close(); };
    }, []);
    return <dialog ref={box} class={`dialog ${wide ? 'wide' : ''}`} aria-label={title}
        onClick={event => { if (event.target === box.current) close(); }}>
        <div class="dialogbox"><div class="panelhead"><h2>{title}</h2><span class="sp" /><button type="button" class="kbd close" onClick={close} aria-label="Close">Esc</button></div>{children}</div>
    </dialog>;
}

export function Note({ title, children, actions }: { title: ComponentChildren; children?: ComponentChildren; actions?: ComponentChildren }) {
    return <section class="page note-page"><h1>{title}</h1>{children}{actions ? <div class="row-actions">{actions}</div> : null}</section>;
}

// Shows `children` only when waiting takes long enough to be noticed.
export function Waiting({ children }: { children: ComponentChildren }) {
    const [late, set_late] = useState(false);
    useEffect(() => {
        const timer = setTimeout(() => set_late(true), 400);
        return () => clearTimeout(timer);
    }, []);
    return <section class="page note-page" aria-busy="true">{late ? <p class="lead">{children}</p> : null}</section>;
}

export function use_width(): [preact.RefObject<HTMLDivElement>, number] {
    const box = useRef<HTMLDivElement>(null);
    const [width, set_width] = useState(0);
    useLayoutEffect(() => {
        const target = box.current;
        if (!target) return undefined;
        const measure = () => set_width(Math.floor(target.clientWidth));
        measure();
        const watcher = new ResizeObserver(measure);
        watcher.observe(target);
        return () => watcher.disconnect();
    }, [box.current]);
    return [box, width];
}
