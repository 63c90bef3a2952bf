// docs/openapi.json as a judge: whether a request is documented, and whether an answer has the form that is promised. Knows the
// part of JSON Schema that the document uses, and refuses a word that it does not know.
import { readFileSync } from 'node:fs';

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
const routes = Object.entries(document.paths).map(([path, methods]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), path, methods }));
const known = new Set(['$ref', 'type', 'enum', 'anyOf', 'properties', 'required', 'additionalProperties', 'items', 'description', 'minimum', 'maximum', 'format']);

const type_of = value => value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;

// What is wrong with `value`, each with its place: "events/0/p: a string, not integer".
export function problems_of(schema, value, place = '') {
    for (const word of Object.keys(schema)) if (!known.has(word)) throw new Error(`the judge does not know '${word}'`);
    if (schema.$ref) return problems_of(schema.$ref.split('/').slice(1).reduce((at, name) => at[name], document), value, place);
    if (schema.anyOf) return schema.anyOf.some(one => problems_of(one, value, place).length === 0) ? [] : [`${place}: none of the forms`];
    const type = type_of(value), types = [schema.type ?? []].flat();
    if (types.length && !types.includes(type) && !(type === 'integer' && types.includes('number'))) return [`${place}: ${type}, not ${types.join(' or ')}`];
    if (schema.enum && !schema.enum.includes(value)) return [`${place}: '${value}' is none of ${schema.enum.join(', ')}`];
    if (type === 'array') return value.slice(0, 50).flatMap((one, i) => problems_of(schema.items ?? {}, one, `${place}/${i}`));
    if (type !== 'object') return [];
    const found = (schema.required ?? []).filter(name => !(name in value)).map(name => `${place}/${name}: is missing`);
    for (const [name, one] of Object.entries(value)) {
        const inner = schema.properties?.[name] ?? schema.additionalProperties ?? true;
        if (inner === false) found.push(`${place}/${name}: is not documented`);
        else if (inner !== true) found.push(...problems_of(inner, one, `${place}/${name}`));
    }
    return found;
}

// "GET /api/v1/hubs/{hub}" of each that is documented, and of a request.
export const operations = Object.entries(document.paths).flatMap(([path, methods]) => Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`));
export const name_of = (method, url) => `${method} ${routes.find(route => route.pattern.test(url.pathname))?.path}`;

function operation_of(method, url) {
    const found = routes.find(route => route.pattern.test(url.pathname));
    return found?.methods[method.toLowerCase()];
}

// A request of the page: its route, its query, its body.
export function request_problems(method, url, body) {
    const operation = operation_of(method, url), where = `${method} ${url.pathname}`;
    if (!operation) return [`${where} is not documented`];
    const names = (operation.parameters ?? []).filter(one => one.in === 'query').map(one => one.name), found = [];
    for (const name of url.searchParams.keys()) if (!names.includes(name)) found.push(`${where}: ?${name} is not documented`);
    const schema = operation.requestBody?.content?.['application/json']?.schema;
    if (body && !schema) found.push(`${where}: a body is not documented`);
    return body && schema ? [...found, ...problems_of(schema, JSON.parse(body)).map(one => `${where} ${one}`)] : found;
}

// What the server answered: its status, and the body that goes with it.
export function answer_problems(method, url, status, body) {
    const operation = operation_of(method, url), where = `${method} ${url.pathname} ${status}`;
    if (!operation) return [`${where} is not documented`];
    let answer = operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined);
    if (!answer) return [`${where}: the status is not documented`];
    if (answer.$ref) answer = answer.$ref.split('/').slice(1).reduce((at, name) => at[name], document);
    const schema = answer.content?.['application/json']?.schema;
    return schema ? problems_of(schema, body).map(one => `${where} ${one}`) : [];
}
