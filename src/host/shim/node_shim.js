// Runs the functions of a Node app for `evenkeel host`, with the app's own @azure/functions.
//
//     node node_shim.js APP        requests on standard input, answers on descriptor 3
//
// The first answer lists the functions, and what could not be loaded with its stack. Then each
// request is a line of JSON, and is answered by a line that begins with its id. Standard output and
// error belong to the app.
"use strict";
const fs = require("fs");
const Module = require("module");
const path = require("path");
const { pathToFileURL } = require("url");

// Whoever stops a service may signal all of its processes, and what runs is to end well: we end when
// our input does.
for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {});

const app = path.resolve(process.argv.at(-1));
const functions = new Map(); // name: {metadata, callback}
const hooks = new Map(); // name: callbacks
let model;
let running = 0;
let isEnding = false;

function say(answer) {
    const bytes = Buffer.from(JSON.stringify(answer) + "\n");
    for (let written = 0; written < bytes.length;) {
        try {
            written += fs.writeSync(3, bytes, written);
        } catch (error) {
            if (error.code !== "EAGAIN") throw error;
        }
    }
}

class Disposable {
    constructor(callback) {
        this.callback = callback;
    }
    dispose() {
        this.callback();
    }
}

// What @azure/functions expects of the process that runs it.
const core = {
    version: "3.9.1",
    hostVersion: "4.1036.0",
    Disposable,
    registerFunction(metadata, callback) {
        functions.set(metadata.name, { metadata, callback });
        return new Disposable(() => functions.delete(metadata.name));
    },
    registerHook(name, callback) {
        if (!hooks.has(name)) hooks.set(name, new Set());
        hooks.get(name).add(callback);
        return new Disposable(() => hooks.get(name).delete(callback));
    },
    setProgrammingModel(given) {
        model = given;
    },
    getProgrammingModel() {
        return model;
    },
    log(level, category, message) {
        say({ log: message, level, id: "" });
    },
};
const load = Module.prototype.require;
Module.prototype.require = function (name) {
    return name === "@azure/functions-core" ? core : load.apply(this, arguments);
};

async function runHooks(name, context) {
    for (const hook of hooks.get(name) ?? []) await hook(context);
}

// Files that a pattern such as "src/{index.js,functions/*.js}" names, relative to the app.
function filesOf(pattern) {
    const brace = /^(.*?)\{([^{}]*)\}(.*)$/s.exec(pattern);
    if (brace) return brace[2].split(",").flatMap((part) => filesOf(brace[1] + part + brace[3]));
    const step = (folder, [first, ...rest]) => {
        if (first === undefined) return [];
        const entries = () => (fs.existsSync(folder) ? fs.readdirSync(folder, { withFileTypes: true }) : []);
        if (first === "**") {
            const below = entries().filter((entry) => entry.isDirectory() && entry.name !== "node_modules");
            return [...step(folder, rest), ...below.flatMap((entry) => step(path.join(folder, entry.name), [first, ...rest]))];
        }
        const escaped = first.replace(/[.+^$()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".");
        const wanted = new RegExp(`^${escaped}$`);
        return entries().filter((entry) => wanted.test(entry.name)).flatMap((entry) => {
            const inner = path.join(folder, entry.name);
            if (rest.length > 0) return entry.isDirectory() ? step(inner, rest) : [];
            return entry.isDirectory() ? [] : [inner];
        }).sort();
    };
    return step(app, path.normalize(pattern).split("/").filter((part) => part !== "." && part !== ""));
}

async function loadAll() {
    const failures = [];
    const main = JSON.parse(fs.readFileSync(path.join(app, "package.json"), "utf8")).main;
    const files = [...new Set(filesOf(main ?? "index.js"))];
    if (files.length === 0) failures.push(`package.json: "main" (${main}) names no file that exists`);
    for (const file of files) {
        try {
            await import(pathToFileURL(file));
        } catch (error) {
            failures.push(`${path.relative(app, file)} cannot be loaded:\n${error?.stack ?? error}`);
        }
    }
    return failures;
}

// "1.02:03:04" of {days, hours, minutes, seconds, milliseconds}, of seconds, or of a text like it.
function timeSpan(given) {
    if (given === undefined || given === null || typeof given === "string") return given;
    const all = typeof given === "number" ? { milliseconds: given } : given;
    let left = Math.round((((all.days ?? 0) * 24 + (all.hours ?? 0)) * 60 + (all.minutes ?? 0)) * 60000 +
        (all.seconds ?? 0) * 1000 + (all.milliseconds ?? 0));
    const take = (unit) => {
        const count = Math.floor(left / unit);
        left -= count * unit;
        return String(count).padStart(2, "0");
    };
    return `${Number(take(86400000))}.${take(3600000)}:${take(60000)}:${take(1000)}.${String(left).padStart(3, "0")}`;
}

function retryOf(options) {
    if (!options) return null;
    return {
        strategy: options.retryStrategy ?? options.strategy,
        maxRetryCount: options.maxRetryCount,
        delayInterval: timeSpan(options.delayInterval),
        minimumInterval: timeSpan(options.minimumInterval),
        maximumInterval: timeSpan(options.maximumInterval),
    };
}

function typedData(kind, data) {
    switch (kind) {
        case "string": return { string: data };
        case "json": return { json: data };
        case "bytes": return { bytes: Buffer.from(data, "base64") };
        case "collection_string": return { collectionString: { string: data } };
        default: return { collectionBytes: { bytes: data.map((text) => Buffer.from(text, "base64")) } };
    }
}

// What was written to an output, as one text or {base64} for each event.
function bodiesOf(data) {
    const base64 = (bytes) => ({ base64: Buffer.from(bytes).toString("base64") });
    if (data === undefined || data === null) return [];
    if (data.string !== undefined && data.string !== null) return [data.string];
    if (data.bytes) return [base64(data.bytes)];
    if (data.collectionString) return data.collectionString.string;
    if (data.collectionBytes) return data.collectionBytes.bytes.map(base64);
    if (data.json !== undefined && data.json !== null) {
        const value = JSON.parse(data.json);
        if (!Array.isArray(value)) return [data.json];
        return value.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
    }
    const list = data.collectionDouble?.double ?? data.collectionSInt64?.sint64;
    return list ? list.map(String) : [String(data.int ?? data.double)];
}

async function invoke(request) {
    const { metadata, callback } = functions.get(request.function);
    const trigger = Object.keys(metadata.bindings)
        .find((name) => metadata.bindings[name].type.toLowerCase() === "eventhubtrigger");
    const call = {
        invocationId: request.id,
        metadata,
        request: {
            inputData: [{ name: trigger, data: typedData(request.kind, request.data) }],
            triggerMetadata: Object.fromEntries(Object.entries(request.meta).map(([name, json]) => [name, { json }])),
            retryContext: request.retry
                ? { retryCount: request.retry.count, maxRetryCount: request.retry.max, exception: { message: request.retry.error } }
                : undefined,
            traceContext: undefined,
        },
        log: (level, category, message) => say({ log: message, level, id: request.id }),
    };
    const invocation = model.getInvocationModel(call);
    const { context, inputs } = await invocation.getArguments();
    const hook = { hookData: {}, appHookData: {}, invocationContext: context, inputs, functionCallback: callback };
    call.state = "preInvocationHooks";
    await runHooks("preInvocation", hook);
    call.state = "invocation";
    const after = { ...hook, result: undefined, error: undefined };
    try {
        after.result = await invocation.invokeFunction(context, hook.inputs, hook.functionCallback);
    } catch (error) {
        after.error = error;
    }
    call.state = "postInvocationHooks";
    await runHooks("postInvocation", after);
    if (after.error) throw after.error;
    const response = await invocation.getResponse(context, after.result);
    const outputs = {};
    for (const { name, data } of response.outputData ?? []) outputs[name] = bodiesOf(data);
    if (metadata.bindings.$return) outputs.$return = bodiesOf(response.returnValue);
    return outputs;
}

async function answer(request) {
    ++running;
    try {
        say({ id: request.id, ok: true, outputs: await invoke(request) });
    } catch (error) {
        say({ id: request.id, ok: false, error: String(error?.message ?? error), trace: String(error?.stack ?? "") });
    }
    --running;
    exitIfDone();
}

// Timers and connections that the app has left keep nobody waiting.
function exitIfDone() {
    if (isEnding && running === 0) process.exit(0);
}

function serve() {
    let parts = [];
    process.stdin.on("data", (bytes) => {
        let begin = 0;
        for (let end; (end = bytes.indexOf(10, begin)) >= 0; begin = end + 1) {
            parts.push(bytes.subarray(begin, end));
            answer(JSON.parse(Buffer.concat(parts).toString()));
            parts = [];
        }
        if (begin < bytes.length) parts.push(bytes.subarray(begin));
    });
    process.stdin.on("end", () => {
        isEnding = true;
        exitIfDone();
    });
}

loadAll().then(async (failures) => {
    if (!model && failures.length === 0) {
        failures.push("the app does not use @azure/functions, version 4 or later");
    }
    await runHooks("appStart", { hookData: {}, appHookData: {}, functionAppDirectory: app });
    say({
        evenkeel: 1,
        failures,
        functions: [...functions.values()].map(({ metadata }) => ({
            name: metadata.name,
            bindings: Object.entries(metadata.bindings).map(([name, binding]) => ({ ...binding, name })),
            retry: retryOf(metadata.retryOptions),
        })),
    });
    serve();
}).catch((error) => {
    say({ evenkeel: 1, functions: [], failures: [String(error?.stack ?? error)] });
});
