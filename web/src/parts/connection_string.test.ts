import { test } from 'node:test';
import { strict as assert } from 'node:assert';
import type { Key } from '../api/types';
import { connection_text, endpoint } from './connection_string';

const key: Key = { name: 'demo', hub: null, rights: ['Listen', 'Manage', 'Send'], fixed: true, primary_key: 'k=' };
const here = { hostname: 'localhost', port: '8080', protocol: 'http:' }, elsewhere = { hostname: 'hub.example', port: '', protocol: 'https:' };

test('has the port of the server, and says what is not encrypted', () => {
    assert.equal(connection_text(key, { amqp_port: 5673, amqps_port: null }, here), 'Endpoint=sb://localhost:5673;SharedAccessKeyName=demo;SharedAccessKey=k=;UseDevelopmentEmulator=true;');
    assert.equal(endpoint({ amqp_port: 5672, amqps_port: 5671 }, here), 'sb://localhost');
});

test('from another machine it is the encrypted port', () => {
    assert.equal(connection_text(key, { amqp_port: 5672, amqps_port: 15671 }, elsewhere), 'Endpoint=sb://hub.example:15671;SharedAccessKeyName=demo;SharedAccessKey=k=;');
    assert.equal(connection_text({ ...key, hub: 'homes' }, { amqp_port: null, amqps_port: 5671 }, elsewhere), 'Endpoint=sb://hub.example;SharedAccessKeyName=demo;SharedAccessKey=k=;EntityPath=homes;');
});

test('without a port for AMQP it goes by WebSocket', () => {
    const none = { amqp_port: null, amqps_port: null };
    assert.equal(connection_text(key, none, { ...elsewhere, port: '8443' }), 'Endpoint=sb://hub.example:8443;SharedAccessKeyName=demo;SharedAccessKey=k=;TransportType=AmqpWebSockets;');
    assert.equal(connection_text(key, none, here), 'Endpoint=sb://localhost:8080;SharedAccessKeyName=demo;SharedAccessKey=k=;TransportType=AmqpWebSockets;UseDevelopmentEmulator=true;');
});
