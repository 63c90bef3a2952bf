// The connection string of this server, for the clipboard only: the key is asked for when it is copied and never shown.
import { get } from '../api/client';
import type { Key } from '../api/types';

export async function connection_string(): Promise<string> {
    const name = 'RootManageSharedAccessKey';
    const key = await get<Key>(`/keys/${name}`);
    const emulator = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname) ? ';UseDevelopmentEmulator=true' : '';
    return `Endpoint=sb://${location.hostname};SharedAccessKeyName=${name};SharedAccessKey=${key.primary_key ?? ''}${emulator}`;
}
