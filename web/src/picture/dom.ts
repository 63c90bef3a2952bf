// Small helpers for parts of the page that are drawn without Preact. Text from outside only ever becomes textContent.
import { cut, visible } from '../formats';
import type { Mark } from '../model/owners';

const namespace = 'http://www.w3.org/2000/svg';

export function svg<K extends keyof SVGElementTagNameMap>(name: K, attributes: Record<string, string | number> = {}): SVGElementTagNameMap[K] {
    const made = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
}

export function element<K extends keyof HTMLElementTagNameMap>(name: K, classes = '', text = ''): HTMLElementTagNameMap[K] {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    if (text) made.textContent = text;
    return made;
}

export function set_text(target: Element, text: string): void {
    if (target.textContent !== text) target.textContent = text;
}

export function set_class(target: Element, classes: string): void {
    if (target.getAttribute('class') !== classes) target.setAttribute('class', classes);
}

export function set_attribute(target: Element, name: string, value: string): void {
    if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

// A name from outside: cut in the middle, its direction kept to itself, whole in the title.
export function set_name(target: HTMLElement, name: string): void {
    const text = cut(name);
    if (target.textContent === text) return;
    target.textContent = text;
    target.title = visible(name);
}

export const colour = (mark: Mark | null): string => mark ? `var(--o${mark.colour})` : 'var(--orphan)';
export const colour_class = (mark: Mark | null): string => mark ? `o${mark.colour} ${mark.pattern}` : 'o0';

export const reduced_motion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
