// The first start: three steps, filled in for this server. The page wakes up by itself with the first event.
import { useState } from 'preact/hooks';
import { hub_path, send } from '../api/client';
import { CopyButton, Segments } from '../parts/basics';
import { connection_string, endpoint } from '../parts/connection_string';
import { state } from '../state';

const languages = [['shell', 'Shell'], ['cpp', 'C++'], ['python', 'Python'], ['dotnet', '.NET']] as const;
type Language = typeof languages[number][0];

function sample(language: Language, hub: string): string {
    const body = '{"kind":"door","state":"opened"}';
    switch (language) {
        case 'shell': return `evenkeel send ${hub} --key home-1 '${body}'`;
        case 'cpp': return `auto producer = evenkeel::Producer::open({.connection = connection_string, .event_hub = "${hub}"}).value();\nproducer->send(R"(${body})", {.partition_key = "home-1"}).value();`;
        case 'python': return `producer = EventHubProducerClient.from_connection_string(connection_string, eventhub_name="${hub}")\nproducer.send_batch([EventData('${body}')], partition_key="home-1")`;
        case 'dotnet': return `await using var producer = new EventHubProducerClient(connectionString, "${hub}");\nawait producer.SendAsync([new EventData("""${body}""")], new SendEventOptions { PartitionKey = "home-1" });`;
    }
}

export function FirstStart({ hub }: { hub: string | null }) {
    const [language, choose] = useState<Language>('shell'), [said, set_said] = useState('');
    const name = hub ?? 'homes';
    const test = async () => {
        try {
            await send('POST', `${hub_path(name)}/events`, { events: [{ body: '{"kind":"door","state":"opened"}', partition_key: 'home-1', content_type: 'application/json' }] });
            set_said('Sent. It is the first one.');
        } catch (error) {
            set_said((error as Error).message);
        }
    };
    return <section class="page note-page first"><h1>Ready. No events yet.</h1><p class="lead">Everything below is filled in for this server. This page wakes up with the first event.</p>
        <ol class="steps">
            {hub === null ? <li><h2>Make a hub</h2><pre>evenkeel hub create homes --partitions 16</pre></li> : null}
            <li><h2>Send one</h2><div class="row-actions">{state.may('Send') && hub !== null ? <button type="button" class="btn pri" onClick={() => void test()}>Send a test event</button> : null}
                <Segments label="Language" options={languages} value={language} choose={value => choose(value)} /><span role="status" class="muted">{said}</span></div><pre>{sample(language, name)}</pre></li>
            <li><h2>Process it, twice at once if you like</h2><pre>{`evenkeel process ${name} --group first --create-group --store sqlite:progress.db --exec 'cat >> handled.ndjson'`}</pre></li>
            <li><h2>See who owns what</h2><p class="muted">Start the server with <code>--watch-store sqlite:progress.db</code>, then open Processors.</p></li>
        </ol>
        <p class="muted">Or point an SDK here: <code>Endpoint={endpoint(state.server ?? { amqp_port: null, amqps_port: null }, location)};SharedAccessKeyName=…</code> {state.may('Manage') ? <CopyButton class="linkbutton" label="Copy connection string" text={() => connection_string(state.only_hub)} /> : null}</p></section>;
}
