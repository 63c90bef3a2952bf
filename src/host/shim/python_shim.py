"""Runs the functions of a Python app for `evenkeel host`, with the app's own azure-functions.

    python3 python_shim.py APP        requests on standard input, answers on descriptor 3

The first answer lists the functions, and what could not be loaded with its traceback. Then each
request is a line of JSON, and is answered by a line that begins with its id. Standard output and
error belong to the app.
"""

import asyncio
import base64
import concurrent.futures
import contextvars
import importlib
import importlib.util
import inspect
import json
import logging
import os
import signal
import sys
import threading
import traceback
import types

# Whoever stops a service may signal all of its processes, and what runs is to end well: we end when
# our input does. No SIG_IGN, which programs that the app starts would inherit.
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda *_: None)

APP = os.path.abspath(sys.argv[-1])
INVOCATION = contextvars.ContextVar("invocation", default="")
REQUESTS = os.fdopen(os.dup(0), "rb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # the app's code must not read our requests
os.set_inheritable(3, False)
ANSWERS = os.fdopen(3, "w", encoding="utf-8", errors="replace", newline="\n")
LOCK = threading.Lock()


def say(answer):
    line = json.dumps(answer, separators=(",", ":"))
    with LOCK:
        ANSWERS.write(line + "\n")
        ANSWERS.flush()


class HostLog(logging.Handler):
    """The app's log lines, with the id of their execution."""

    def emit(self, record):
        say({"log": self.format(record), "level": record.levelname, "id": INVOCATION.get()})


class Function:
    def __init__(self, name, call, bindings, retry, folder):
        self.name = name
        self.call = call
        self.bindings = bindings
        self.retry = retry
        self.folder = folder
        self.parameters = inspect.signature(call).parameters
        self.trigger = next((b["name"] for b in bindings
                             if b["type"].lower() == "eventhubtrigger"), None)
        self.outputs = [b for b in bindings if str(b.get("direction", "")).lower() == "out"]
        self.returns = any(b["name"] == "$return" for b in self.outputs)


def load_v2(name):
    """Functions by decorators, in the one file of the app."""
    import azure.functions as func

    module = importlib.import_module(name)
    apps = [value for value in vars(module).values() if isinstance(value, func.FunctionRegister)]
    if not apps:
        raise RuntimeError(f"{name}.py has no FunctionApp")
    for function in apps[0].get_functions():
        yield Function(function.get_function_name(), function.get_user_function(),
                       [json.loads(text) for text in function.get_raw_bindings()],
                       retry_of(function.get_settings_dict("retry_policy")), APP)


def retry_of(settings):
    """A retry policy with the names of function.json."""
    if not settings:
        return None
    names = {"max_retry_count": "maxRetryCount", "delay_interval": "delayInterval",
             "minimum_interval": "minimumInterval", "maximum_interval": "maximumInterval"}
    return {names.get(key, key): value for key, value in settings.items() if value is not None}


def load_v1(folder):
    """A function with a function.json: `main` in __init__.py, or what the file says."""
    with open(os.path.join(APP, folder, "function.json"), encoding="utf-8-sig") as file:
        settings = json.load(file)
    script = settings.get("scriptFile") or "__init__.py"
    path = os.path.normpath(os.path.join(APP, folder, script))
    if os.path.basename(path) == "__init__.py" and os.path.dirname(path) == os.path.join(APP, folder):
        module = importlib.import_module(folder)
    else:
        spec = importlib.util.spec_from_file_location(f"evenkeel_{folder}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    call = getattr(module, settings.get("entryPoint") or "main")
    return Function(folder, call, settings["bindings"], None, os.path.join(APP, folder))


def folders_v1():
    for entry in sorted(os.listdir(APP)):
        path = os.path.join(APP, entry, "function.json")
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8-sig") as file:
            try:
                settings = json.load(file)
            except ValueError:
                continue  # the host tells about it
        script = settings.get("scriptFile") or "__init__.py"
        if script.endswith(".py") and os.path.isfile(os.path.join(APP, entry, script)):
            yield entry


def load_all():
    functions, failures = {}, []
    script = os.environ.get("PYTHON_SCRIPT_FILE_NAME") or "function_app.py"
    if os.path.isfile(os.path.join(APP, script)):
        try:
            for function in load_v2(os.path.splitext(script)[0]):
                functions[function.name] = function
        except Exception:
            failures.append(f"{script} cannot be loaded:\n{traceback.format_exc()}")
    for folder in folders_v1():
        try:
            functions[folder] = load_v1(folder)
        except Exception:
            failures.append(f"function '{folder}' cannot be loaded:\n{traceback.format_exc()}")
    return functions, failures


def decoded(request, metadata, func):
    """The events as the app's azure-functions makes them."""
    kind, data = request["kind"], request["data"]
    if kind == "bytes":
        data = base64.b64decode(data)
    elif kind == "collection_string":
        data = types.SimpleNamespace(string=data)
    elif kind == "collection_bytes":
        data = types.SimpleNamespace(bytes=[base64.b64decode(text) for text in data])
    converter = func.get_binding_registry().get("eventHubTrigger")
    return converter.decode(func.meta.Datum(data, kind), trigger_metadata=metadata)


def bodies_of(value, func):
    """What was written to an output, as one text or {"base64": ...} for each event."""
    if isinstance(value, (list, tuple)):
        return [body for item in value for body in
                ([item] if isinstance(item, str) else
                 [{"base64": base64.b64encode(item).decode()}] if isinstance(item, bytes) else
                 [json.dumps(item)])]
    datum = func.get_binding_registry().get("eventHub").encode(value, expected_type=str)
    if datum.type == "bytes":
        return [{"base64": base64.b64encode(datum.value).decode()}]
    if datum.type is None:
        raise TypeError(f"an output of type {type(value).__name__} is not supported; "
                        "it must be str, bytes, int or a list")
    return [str(datum.value)]


def arguments_of(function, request, func):
    metadata = {name: func.meta.Datum(text, "json") for name, text in request["meta"].items()}
    arguments = {function.trigger: decoded(request, metadata, func)}

    class Out(func.Out):
        def __init__(self):
            self.value = None

        def set(self, val):
            self.value = val

        def get(self):
            return self.value

    outs = {}
    for binding in function.outputs:
        if binding["name"] in function.parameters:
            outs[binding["name"]] = arguments[binding["name"]] = Out()
    if "context" in function.parameters:
        retry = request.get("retry")
        arguments["context"] = types.SimpleNamespace(
            invocation_id=request["id"], function_name=function.name,
            function_directory=function.folder, thread_local_storage=threading.local(),
            trace_context=types.SimpleNamespace(trace_parent="", trace_state="", attributes={}),
            retry_context=types.SimpleNamespace(
                retry_count=retry["count"], max_retry_count=retry["max"],
                exception=retry["error"]) if retry else None)
    return arguments, outs


def called(context, call, arguments):
    """The result and None, or None and the exception: a future cannot carry StopIteration."""
    try:
        return context.run(call, **arguments), None
    except BaseException as error:
        return None, error


async def invoke(function, request, pool, func):
    INVOCATION.set(request["id"])
    arguments, outs = arguments_of(function, request, func)
    if inspect.iscoroutinefunction(function.call):
        result = await function.call(**arguments)
    else:
        result, error = await asyncio.get_running_loop().run_in_executor(
            pool, called, contextvars.copy_context(), function.call, arguments)
        if error is not None:
            raise error
    outputs = {name: bodies_of(out.value, func) for name, out in outs.items()
               if out.value is not None}
    if function.returns and result is not None:
        outputs["$return"] = bodies_of(result, func)
    elif result is not None:
        raise RuntimeError(f"function {function.name!r} without a $return binding returned a "
                           "non-None value")
    return outputs


async def answer(functions, request, pool, func):
    try:
        function = functions[request["function"]]
        outputs = await invoke(function, request, pool, func)
        say({"id": request["id"], "ok": True, "outputs": outputs})
    except BaseException as error:  # also CancelledError, and SystemExit of sys.exit()
        say({"id": request["id"], "ok": False, "error": f"{type(error).__name__}: {error}",
             "trace": traceback.format_exc()})


async def serve(functions, func):
    loop = asyncio.get_running_loop()
    requests = asyncio.Queue()
    threads = os.environ.get("PYTHON_THREADPOOL_THREAD_COUNT")
    pool = concurrent.futures.ThreadPoolExecutor(int(threads) if threads else None)

    def read():
        for line in REQUESTS:
            loop.call_soon_threadsafe(requests.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(requests.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    running = set()
    while (request := await requests.get()) is not None:
        task = loop.create_task(answer(functions, request, pool, func))
        running.add(task)
        task.add_done_callback(running.discard)
    if running:
        await asyncio.wait(running)


def main():
    sys.path.insert(0, os.path.join(APP, ".python_packages", "lib", "site-packages"))
    sys.path.insert(0, APP)
    logging.getLogger().addHandler(HostLog())
    logging.getLogger().setLevel(logging.INFO)
    try:
        import azure.functions as func
    except ImportError as error:
        say({"evenkeel": 1, "functions": [], "failures": [
            f"the package azure-functions cannot be imported ({error}); install it: "
            "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"]})
        return
    functions, failures = load_all()
    say({"evenkeel": 1, "failures": failures, "functions": [
        {"name": f.name, "bindings": f.bindings, "retry": f.retry} for f in functions.values()]})
    asyncio.run(serve(functions, func))


main()
logging.shutdown()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)  # threads that the app has left keep nobody waiting
