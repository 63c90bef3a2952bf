// An event as a command or a line of a program that sends it again. Pure.
//
// What is in an event came from somebody else, so nothing of it may become an option, end a literal early, or reach the
// terminal that it is pasted into: every part is quoted, and what has control characters is offered as JSON only, which has
// none. A body that is not whole is not offered at all.
import { hub_path } from '../../api/client';
import type { Event } from '../../api/types';

const shell = (text: string): string => `'${text.replace(/'/g, `'\\''`)}'`;

// Control characters, and what has no width or changes the direction of text. Lines of a body are no danger in quotes.
const unsafe = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

const escaped = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;

// JSON without any character of `unsafe`. Python reads such a text as the same string.
function quoted(value: unknown): string {
    return JSON.stringify(value).replace(new RegExp(unsafe, 'g'), escaped);
}

function cpp(text: string): string {
    return `"${text.replace(/[\\"]/g, sign => `\\${sign}`).replace(/\n/g, '\\n').replace(/\?\?/g, '?\\?')}"`;
}

// Name and text of each form that says exactly what `event` has. Those without content type and properties have no place for them.
export function copies(hub: string, event: Event, origin: string): [string, string][] {
    if (event.body.truncated || event.properties_truncated) return [];
    const key = event.partition_key, body = event.body.value, is_binary = event.body.kind === 'base64';
    const json = quoted({ events: [{
        [is_binary ? 'body_base64' : 'body']: body, ...(key === null ? {} : { partition_key: key }),
        ...(event.content_type === null ? {} : { content_type: event.content_type }), ...(Object.keys(event.properties).length ? { properties: event.properties } : {}),
    }] });
    const curl: [string, string] = ['curl', `curl -sf ${shell(`${origin}/api/v1${hub_path(hub)}/events`)} -H 'Content-Type: application/json' -d ${shell(json)}`];
    if (is_binary || [hub, key ?? '', body].some(text => unsafe.test(text))) return [curl];
    const forms: [string, string][] = [
        ['CLI', `evenkeel send ${key === null ? '' : `--key=${shell(key)} `}-- ${shell(hub)} ${shell(body)}`],
        curl,
        ['C++', `producer->send(${cpp(body)}${key === null ? '' : `, {.partition_key = ${cpp(key)}}`}).value();`],
        ['Python', `producer.send_batch([EventData(${quoted(body)})]${key === null ? '' : `, partition_key=${quoted(key)}`})`],
    ];
    return body.startsWith('[') ? forms.slice(1) : forms;  // the command takes "[1,2]" for a list of two bodies
}
