// Connection strings of this server, for the clipboard only: a key is asked for when it is copied and never shown. They are
// those of `evenkeel conn`.
import { get, hub_path, segment } from '../api/client';
import type { Key, Server } from '../api/types';

export type Ports = Pick<Server, 'amqp_port' | 'amqps_port'>;
export type Place = Pick<Location, 'hostname' | 'port' | 'protocol'>;  // where the page is

interface Way { endpoint: string; websocket: boolean; tls: boolean }

// From this machine the plain port, from another one the encrypted port, if there are both. A server without either
// takes AMQP over WebSocket at the page's port.
function way(ports: Ports, place: Place): Way {
    const is_here = ['localhost', '127.0.0.1', '[::1]'].includes(place.hostname);
    const plain = { port: ports.amqp_port, usual: 5672, tls: false }, encrypted = { port: ports.amqps_port, usual: 5671, tls: true };
    const found = (is_here ? [plain, encrypted] : [encrypted, plain]).find(one => one.port !== null);
    const port = found ? (found.port === found.usual ? '' : String(found.port)) : place.port;
    return { endpoint: `sb://${place.hostname}${port ? `:${port}` : ''}`, websocket: !found, tls: found ? found.tls : place.protocol === 'https:' };
}

export const endpoint = (ports: Ports, place: Place): string => way(ports, place).endpoint;

export function connection_text(key: Key, ports: Ports, place: Place): string {
    const { endpoint, websocket, tls } = way(ports, place);
    return `Endpoint=${endpoint};SharedAccessKeyName=${key.name};SharedAccessKey=${key.primary_key ?? ''};${key.hub === null ? '' : `EntityPath=${key.hub};`}${
        websocket ? 'TransportType=AmqpWebSockets;' : ''}${tls ? '' : 'UseDevelopmentEmulator=true;'}`;
}

// The keys of a hub, or with null all there are.
export const keys_path = (hub: string | null): string => `${hub === null ? '' : hub_path(hub)}/keys`;
export const path_of = (key: Pick<Key, 'name' | 'hub'>): string => `${keys_path(key.hub)}/${segment(key.name)}`;

// Of a key that is known with its texts.
export const string_of = async (key: Key): Promise<string> => connection_text(key, await get<Server>('/server'), location);

// Of the first key that may do everything with all hubs, or with the only one that the reader's key reaches.
export async function connection_string(hub: string | null): Promise<string> {
    const { keys } = await get<{ keys: Key[] }>(keys_path(hub));
    const key = keys.find(one => (one.hub === null) === (hub === null) && one.rights.length === 3);
    if (!key) throw new Error(`No key here has all rights to ${hub === null ? 'all hubs' : 'this hub'}. Keys lists those that there are.`);
    return string_of(await get<Key>(path_of(key)));
}
