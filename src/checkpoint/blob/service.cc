#include "checkpoint/blob/service.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/promise.h"
#include "base/random.h"
#include "base/text.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t pages_max = 10'000;

bool is_lost(const Error& error) {
    return error.code == ErrorCode::unavailable || error.code == ErrorCode::timed_out;
}

bool is_busy(const BlobAnswer& answer) {
    return answer.status >= 500 || answer.status == 408 || answer.status == 429 ||
           (answer.status == 409 && answer.code == "ContainerBeingDeleted");
}

}  // namespace

struct BlobService::Asked {
    BlobRequest request;
    Callback<void(Result<BlobAnswer>)> done;
    Instant until;
    Duration pause;
    bool is_uncertain = false;
};

struct BlobService::Listing {
    std::string prefix;
    std::size_t count_max;
    Callback<void(Result<std::vector<ListedBlob>>)> done;
    std::string after;
    std::vector<ListedBlob> found = {};
    std::string marker = {};
    std::size_t pages = 0;
};

Result<std::unique_ptr<BlobService>> BlobService::open(BlobAccount account,
                                                       const BlobOptions& options, io::Loop& loop) {
    EK_TRY_ASSIGN(auto fetcher, http::Fetcher::open({.time_max = options.try_max}));
    return std::unique_ptr<BlobService>(
        new BlobService(std::move(account), options, loop, std::move(fetcher)));
}

BlobService::BlobService(BlobAccount account, const BlobOptions& options, io::Loop& loop,
                         std::unique_ptr<http::Fetcher> fetcher)
    : account_(std::move(account)),
      options_(options),
      loop_(loop),
      random_(secure_number()),
      fetcher_(std::move(fetcher)) {}

BlobService::~BlobService() = default;

void BlobService::ask(BlobRequest request, Callback<void(Result<BlobAnswer>)> done) {
    loop_.check_here();
    auto asked = std::make_shared<Asked>();
    asked->request = std::move(request);
    asked->done = std::move(done);
    asked->until = loop_.clock().now() + options_.wait_max;
    asked->pause = options_.pause_min;
    send(std::move(asked));
}

void BlobService::send(std::shared_ptr<Asked> asked) {
    ++requests_;
    auto wire = to_wire(asked->request, account_, loop_.clock().wall());
    fetcher_->fetch(std::move(wire), [this, asked](Result<http::Fetched> fetched) mutable {
        // On the fetcher's thread: the service is there as long as that is.
        loop_.post(lifetime_.guard(
            [this, asked = std::move(asked), fetched = std::move(fetched)]() mutable {
                receive(asked, std::move(fetched));
            }));
    });
}

void BlobService::receive(const std::shared_ptr<Asked>& asked, Result<http::Fetched> fetched) {
    if (!fetched.ok()) {
        if (!is_lost(fetched.error())) return asked->done(fetched.error());
        asked->is_uncertain = true;
        return try_again(asked, fetched.error());
    }
    BlobAnswer answer = blob_answer_of(std::move(*fetched));
    if (is_busy(answer)) {
        asked->is_uncertain = true;
        return try_again(
            asked, {ErrorCode::unavailable,
                    fmt::format("{} answers {} {}", account_.origin, answer.status, answer.code)});
    }
    answer.is_uncertain = answer.is_uncertain || asked->is_uncertain;
    asked->done(judge(std::move(answer)));
}

void BlobService::try_again(const std::shared_ptr<Asked>& asked, Error why) {
    const Instant now = loop_.clock().now();
    // Half of the pause is by chance, so that many clients do not come back at once.
    const auto half = asked->pause.count() / 2;
    const Duration pause(half + random_.between(0, half));
    if (now + pause >= asked->until) return asked->done(std::move(why));
    asked->pause = std::min(2 * asked->pause, options_.pause_max);
    loop_.run_after(pause, lifetime_.guard([this, asked] { send(asked); }));
}

void BlobService::list(std::string prefix, std::size_t count_max,
                       Callback<void(Result<std::vector<ListedBlob>>)> done, std::string after) {
    next_page(std::make_shared<Listing>(
        Listing{std::move(prefix), count_max, std::move(done), std::move(after)}));
}

void BlobService::next_page(const std::shared_ptr<Listing>& listing) {
    const std::size_t left = listing->count_max - listing->found.size();
    auto request = blob_list_request(
        listing->prefix,
        listing->after.empty() ? std::min(options_.page_items, left) : options_.page_items,
        listing->marker);
    ask(std::move(request), [this, listing](const Result<BlobAnswer>& answer) {
        if (!answer.ok()) return listing->done(answer.error());
        if (!answer->is_good()) {
            return listing->done(Error{ErrorCode::unavailable,
                                       fmt::format("{} answers a list with {} {}", account_.origin,
                                                   answer->status, answer->code)});
        }
        auto page = parse_blob_list(answer->body);
        if (!page.ok()) return listing->done(page.error());
        for (BlobItem& item : page->items) {
            if (item.name <= listing->after || listing->found.size() == listing->count_max)
                continue;
            const auto age = std::max(answer->date - item.modified, std::chrono::milliseconds(0));
            listing->found.push_back({std::move(item), age});
        }
        const bool is_over = page->next.empty() || listing->found.size() >= listing->count_max;
        if (is_over) return listing->done(std::move(listing->found));
        if (++listing->pages == pages_max || page->next == listing->marker) {
            return listing->done(Error{ErrorCode::corrupt, "a list of blobs does not end"});
        }
        listing->marker = std::move(page->next);
        next_page(listing);
    });
}

Result<BlobAnswer> BlobService::ask_now(const BlobRequest& request) {
    Result<BlobAnswer> answer = ask_once(request);
    const Instant until = loop_.clock().now() + options_.wait_max;
    while (!answer.ok() && answer.error().code == ErrorCode::timed_out &&
           loop_.clock().now() < until) {
        answer = ask_once(request);
    }
    return answer;
}

Result<BlobAnswer> BlobService::ask_once(const BlobRequest& request) {
    Promise<Result<http::Fetched>> promise;
    fetcher_->fetch(to_wire(request, account_, loop_.clock().wall()),
                    [&](Result<http::Fetched> fetched) { promise.set(std::move(fetched)); });
    auto fetched = promise.wait();
    if (!fetched.ok()) return fetched.error();
    BlobAnswer answer = blob_answer_of(std::move(*fetched));
    if (is_busy(answer)) {
        return Error{ErrorCode::unavailable,
                     fmt::format("{} answers {} {}", account_.origin, answer.status, answer.code)};
    }
    return judge(std::move(answer));
}

Result<BlobAnswer> BlobService::judge(BlobAnswer answer) const {
    const std::string where = to_string(account_);
    if (answer.status == 401 || answer.status == 403) {
        const std::string_view remedy =
            account_.sas.empty()
                ? "check AccountName and AccountKey, and this machine's clock"
                : "it may have ended, or lack a right: read, write, create, delete and list on the "
                  "container are needed";
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{}: the {} was refused ({} {}); {}", where,
                                 account_.sas.empty() ? "account key" : "SAS", answer.status,
                                 answer.code, remedy)};
    }
    if (answer.status == 404 && answer.code == "ContainerNotFound") {
        return Error{ErrorCode::not_found,
                     fmt::format("{}: there is no container '{}'; create it, or let it be created "
                                 "by ;Create=true in the connection string (&create=true in an "
                                 "address)",
                                 where, account_.container)};
    }
    if (answer.status == 412 && answer.code.starts_with("LeaseId")) {
        return Error{
            ErrorCode::unavailable,
            fmt::format("{}: another program has leased the blob ({})", where, answer.code)};
    }
    if (answer.is_good() || answer.is_conflict()) return answer;
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: the service refuses the request ({} {})", where, answer.status,
                             answer.code)};
}

BlobAnswer blob_answer_of(http::Fetched fetched) {
    constexpr std::string_view metadata_prefix = "x-ms-meta-";
    BlobAnswer answer;
    const http::ClientResponse& response = fetched.response;
    answer.status = response.status;
    answer.is_uncertain = fetched.may_be_repeated;
    answer.etag = bare_etag(response.field("ETag"));
    answer.date = http::parse_date(response.field("Date")).value_or(WallTime{});
    answer.modified = http::parse_date(response.field("Last-Modified")).value_or(WallTime{});
    for (const http::Field& field : response.fields) {
        const std::string name = lower_case(field.name);
        if (!name.starts_with(metadata_prefix)) continue;
        answer.metadata.emplace_back(name.substr(metadata_prefix.size()), field.value);
    }
    if (!answer.is_good()) {
        answer.code = response.field("x-ms-error-code");
        if (answer.code.empty()) answer.code = parse_blob_error(response.body);
    }
    answer.body = std::move(fetched.response.body);
    return answer;
}

BlobRequest blob_list_request(const std::string& prefix, std::size_t page_items,
                              const std::string& marker) {
    BlobRequest request{.method = "GET",
                        .query = {{"restype", "container"},
                                  {"comp", "list"},
                                  {"prefix", prefix},
                                  {"include", "metadata"},
                                  {"maxresults", std::to_string(page_items)}}};
    if (!marker.empty()) request.query.emplace_back("marker", marker);
    return request;
}

}  // namespace evenkeel::checkpoint
