#include "http/fetcher.h"

#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include "base/guarded.h"
#include "http/parser.h"
#include "io/system/loop.h"

namespace evenkeel::http {
namespace {

constexpr const char* library_name = "libcurl.so.4";
constexpr int poll_ms = 1000;

// The functions that we use, from the library once it is loaded.
struct Curl {
    decltype(&curl_global_init) global_init;
    decltype(&curl_easy_init) easy_init;
    decltype(&curl_easy_cleanup) easy_cleanup;
    decltype(&curl_easy_setopt) easy_setopt;
    decltype(&curl_easy_getinfo) easy_getinfo;
    decltype(&curl_easy_strerror) easy_strerror;
    decltype(&curl_slist_append) slist_append;
    decltype(&curl_slist_free_all) slist_free_all;
    decltype(&curl_multi_init) multi_init;
    decltype(&curl_multi_cleanup) multi_cleanup;
    decltype(&curl_multi_setopt) multi_setopt;
    decltype(&curl_multi_add_handle) multi_add_handle;
    decltype(&curl_multi_remove_handle) multi_remove_handle;
    decltype(&curl_multi_perform) multi_perform;
    decltype(&curl_multi_poll) multi_poll;
    decltype(&curl_multi_wakeup) multi_wakeup;
    decltype(&curl_multi_info_read) multi_info_read;
};

class Library {
public:
    Library() : handle_(dlopen(library_name, RTLD_NOW | RTLD_LOCAL)) {
        const bool all = handle_ != nullptr && find("curl_global_init", curl.global_init) &&
                         find("curl_easy_init", curl.easy_init) &&
                         find("curl_easy_cleanup", curl.easy_cleanup) &&
                         find("curl_easy_setopt", curl.easy_setopt) &&
                         find("curl_easy_getinfo", curl.easy_getinfo) &&
                         find("curl_easy_strerror", curl.easy_strerror) &&
                         find("curl_slist_append", curl.slist_append) &&
                         find("curl_slist_free_all", curl.slist_free_all) &&
                         find("curl_multi_init", curl.multi_init) &&
                         find("curl_multi_cleanup", curl.multi_cleanup) &&
                         find("curl_multi_setopt", curl.multi_setopt) &&
                         find("curl_multi_add_handle", curl.multi_add_handle) &&
                         find("curl_multi_remove_handle", curl.multi_remove_handle) &&
                         find("curl_multi_perform", curl.multi_perform) &&
                         find("curl_multi_poll", curl.multi_poll) &&
                         find("curl_multi_wakeup", curl.multi_wakeup) &&
                         find("curl_multi_info_read", curl.multi_info_read);
        is_loaded = all && curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    }

    Curl curl{};
    bool is_loaded = false;

private:
    template <typename Function>
    bool find(const char* name, Function& function) {
        function = reinterpret_cast<Function>(dlsym(handle_, name));
        return function != nullptr;
    }

    void* const handle_;
};

// Loaded once, and never unloaded: threads may outlive main().
const Library& library() {
    static const Library& loaded = *new Library;
    return loaded;
}

// "https://host:port" of a URL: what may be shown of it.
std::string shown(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t from = scheme == std::string_view::npos ? 0 : scheme + 3;
    return std::string(url.substr(0, url.find_first_of("/?#", from)));
}

}  // namespace

struct Fetcher::State {
    // One request under way.
    struct Transfer {
        FetchRequest request;
        Callback<void(Result<Fetched>)> done;
        std::string head = {};
        std::string body = {};
        std::size_t body_bytes_max = 0;
        curl_slist* list = nullptr;
    };
    struct Waiting {
        FetchRequest request;
        Callback<void(Result<Fetched>)> done;
    };

    State(const FetcherOptions& options_, const Curl& curl_) : options(options_), curl(curl_) {}
    ~State() {
        is_stopping = true;
        if (multi != nullptr) curl.multi_wakeup(multi);
        thread.finish();
        for (auto& [handle, transfer] : transfers) release(handle, *transfer);
        if (multi != nullptr) curl.multi_cleanup(multi);
    }

    void run();
    std::optional<Waiting> take();
    bool has_waiting();
    void begin(Waiting next);
    void set_up(CURL* handle, Transfer& transfer) const;
    void end(CURL* handle, CURLcode code);
    void release(CURL* handle, Transfer& transfer) const;
    Result<Fetched> result(CURL* handle, CURLcode code, Transfer& transfer) const;
    static std::size_t on_head(char* data, std::size_t size, std::size_t count, void* user);
    static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user);

    const FetcherOptions options;
    const Curl& curl;
    CURLM* multi = nullptr;
    std::map<CURL*, std::unique_ptr<Transfer>> transfers;
    std::atomic<bool> is_stopping = false;
    Guarded<std::deque<Waiting>> waiting;
    io::system::WorkerThread thread{"http/0"};
};

Result<std::unique_ptr<Fetcher>> Fetcher::open(const FetcherOptions& options) {
    if (!library().is_loaded) {
        return Error{ErrorCode::unsupported,
                     fmt::format("{} is needed for this and was not found; install the package "
                                 "libcurl4",
                                 library_name)};
    }
    auto state = std::make_unique<State>(options, library().curl);
    state->multi = state->curl.multi_init();
    EK_CHECK(state->multi != nullptr, "out of memory");
    state->curl.multi_setopt(state->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, options.connections_max);
    state->curl.multi_setopt(state->multi, CURLMOPT_MAXCONNECTS, options.connections_max);
    state->thread.post([raw = state.get()] { raw->run(); });
    return std::unique_ptr<Fetcher>(new Fetcher(std::move(state)));
}

Fetcher::Fetcher(std::unique_ptr<State> state) : state_(std::move(state)) {}

Fetcher::~Fetcher() = default;

void Fetcher::fetch(FetchRequest request, Callback<void(Result<Fetched>)> done) {
    state_->waiting.with([&](auto& queue) {
        queue.push_back({std::move(request), std::move(done)});
    });
    state_->curl.multi_wakeup(state_->multi);
}

void Fetcher::State::run() {
    while (!is_stopping) {
        // What waits for its turn is not under way yet: its time has not begun.
        while (transfers.size() < static_cast<std::size_t>(options.connections_max)) {
            std::optional<Waiting> next = take();
            if (!next) break;
            begin(std::move(*next));
        }
        int running = 0;
        curl.multi_perform(multi, &running);
        int left = 0;
        while (const CURLMsg* message = curl.multi_info_read(multi, &left)) {
            if (message->msg == CURLMSG_DONE) end(message->easy_handle, message->data.result);
        }
        const bool has_room = transfers.size() < static_cast<std::size_t>(options.connections_max);
        if (is_stopping || (has_room && has_waiting())) continue;
        curl.multi_poll(multi, nullptr, 0, poll_ms, nullptr);
    }
}

std::optional<Fetcher::State::Waiting> Fetcher::State::take() {
    return waiting.with([](std::deque<Waiting>& queue) -> std::optional<Waiting> {
        if (queue.empty()) return std::nullopt;
        Waiting next = std::move(queue.front());
        queue.pop_front();
        return next;
    });
}

bool Fetcher::State::has_waiting() {
    return waiting.with([](const std::deque<Waiting>& queue) { return !queue.empty(); });
}

void Fetcher::State::begin(Waiting next) {
    CURL* const handle = curl.easy_init();
    EK_CHECK(handle != nullptr, "out of memory");
    auto transfer = std::make_unique<Transfer>();
    transfer->request = std::move(next.request);
    transfer->done = std::move(next.done);
    transfer->body_bytes_max = options.body_bytes_max;
    set_up(handle, *transfer);
    curl.multi_add_handle(multi, handle);
    transfers.emplace(handle, std::move(transfer));
}

void Fetcher::State::set_up(CURL* handle, Transfer& transfer) const {
    const FetchRequest& request = transfer.request;
    const auto set = [&](CURLoption option, auto value) {
        curl.easy_setopt(handle, option, value);
    };
    const auto time_max =
        std::chrono::duration_cast<std::chrono::milliseconds>(options.time_max).count();
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(time_max));
    set(CURLOPT_USERAGENT, "evenkeel");
    if (!options.proxies) set(CURLOPT_NOPROXY, "*");
    if (request.method == "HEAD") {
        set(CURLOPT_NOBODY, 1L);
    } else if (request.method == "PUT" || request.method == "POST") {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
        set(CURLOPT_POSTFIELDS, request.body.c_str());
        set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else {
        set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    for (const Field& field : request.fields) {
        const std::string line =
            field.value.empty() ? field.name + ";" : fmt::format("{}: {}", field.name, field.value);
        transfer.list = curl.slist_append(transfer.list, line.c_str());
    }
    // What libcurl would add by itself.
    for (const char* left_out : {"Expect:", "Content-Type:"}) {
        transfer.list = curl.slist_append(transfer.list, left_out);
    }
    set(CURLOPT_HTTPHEADER, transfer.list);
    set(CURLOPT_HEADERFUNCTION, &State::on_head);
    set(CURLOPT_HEADERDATA, &transfer);
    set(CURLOPT_WRITEFUNCTION, &State::on_body);
    set(CURLOPT_WRITEDATA, &transfer);
}

std::size_t Fetcher::State::on_head(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    const std::string_view line(data, size * count);
    // Each head begins anew: that of a proxy, of "100 Continue", and then the answer's.
    if (line.starts_with("HTTP/")) {
        transfer.head.clear();
    } else if (transfer.head.size() + line.size() > head_bytes_max) {
        return 0;
    } else if (line != "\r\n") {
        transfer.head.append(line);
    }
    return size * count;
}

std::size_t Fetcher::State::on_body(char* data, std::size_t size, std::size_t count, void* user) {
    auto& transfer = *static_cast<Transfer*>(user);
    if (transfer.body.size() + size * count > transfer.body_bytes_max) return 0;
    transfer.body.append(data, size * count);
    return size * count;
}

void Fetcher::State::end(CURL* handle, CURLcode code) {
    const auto found = transfers.find(handle);
    if (found == transfers.end()) return;
    const std::unique_ptr<Transfer> transfer = std::move(found->second);
    transfers.erase(found);
    auto outcome = result(handle, code, *transfer);
    release(handle, *transfer);
    if (!is_stopping) transfer->done(std::move(outcome));
}

void Fetcher::State::release(CURL* handle, Transfer& transfer) const {
    curl.multi_remove_handle(multi, handle);
    curl.easy_cleanup(handle);
    curl.slist_free_all(transfer.list);
    transfer.list = nullptr;
}

Result<Fetched> Fetcher::State::result(CURL* handle, CURLcode code, Transfer& transfer) const {
    const std::string where = shown(transfer.request.url);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        return Error{ErrorCode::timed_out, fmt::format("{} did not answer in time", where)};
    }
    if (code == CURLE_WRITE_ERROR) {
        return Error{ErrorCode::corrupt, fmt::format("{}: the answer is too long", where)};
    }
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL) {
        return Error{ErrorCode::invalid_argument, fmt::format("{} is no address", where)};
    }
    if (code != CURLE_OK) {
        return Error{ErrorCode::unavailable,
                     fmt::format("{}: {}", where, curl.easy_strerror(code))};
    }
    long status = 0;
    long connects = 0;
    curl.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    curl.easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &connects);
    auto fields = parse_fields(transfer.head);
    if (!fields) {
        return Error{ErrorCode::corrupt, fmt::format("{}: the answer's head is malformed", where)};
    }
    return Fetched{{static_cast<int>(status), std::move(*fields), std::move(transfer.body)},
                   connects > 0};
}

}  // namespace evenkeel::http
