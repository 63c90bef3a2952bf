// A container of Azure Blob storage: requests sent, tried again with growing pauses while the
// service is away or busy, and answers read. What the answers mean for an entry is its callers'.
//
// A try that got no answer may have been carried out: `is_uncertain` says so, and then a refusal by
// a condition may be our own earlier success.
// Threads: pinned to the loop, but for ask_now().
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/blob/account.h"
#include "checkpoint/blob/list.h"
#include "checkpoint/blob/request.h"
#include "http/fetcher.h"
#include "io/loop.h"

namespace evenkeel::checkpoint {

struct BlobOptions {
    Duration try_max = std::chrono::seconds(3);   // for one answer
    Duration wait_max = std::chrono::seconds(6);  // for all tries of an operation
    Duration pause_min = std::chrono::milliseconds(100);
    Duration pause_max = std::chrono::seconds(2);
    std::size_t page_items = 5000;  // of a list
    bool may_create = true;         // the container, where the address says so
};

struct BlobAnswer {
    int status = 0;
    std::string code = {};  // of an error: "BlobNotFound"
    std::string etag = {};
    WallTime date = {};  // the service's own time
    WallTime modified = {};
    Metadata metadata = {};
    std::string body = {};
    bool is_uncertain = false;

    bool is_good() const { return status >= 200 && status < 300; }
    // The condition was not met, or the blob is there or not there, contrary to what was asked.
    bool is_conflict() const { return status == 404 || status == 409 || status == 412; }
};

struct ListedBlob {
    BlobItem item;
    Duration age;  // by the service's clock, in whole seconds
};

class BlobService {
public:
    // `unsupported` if there is no HTTP client. The loop outlives the service.
    static Result<std::unique_ptr<BlobService>> open(BlobAccount account,
                                                     const BlobOptions& options, io::Loop& loop);
    ~BlobService();
    BlobService(const BlobService&) = delete;
    BlobService& operator=(const BlobService&) = delete;

    // Answers later, on the loop, if the service is still there. Refusals by conditions are
    // answers. `not_found`: there is no such container. `invalid_argument`: we are not let in.
    // `unavailable`, `timed_out`: it may have been carried out.
    void ask(BlobRequest request, Callback<void(Result<BlobAnswer>)> done);
    // All blobs whose name begins with `prefix`, page by page; at most `count_max`, and only those
    // whose name comes behind `after`.
    void list(std::string prefix, std::size_t count_max,
              Callback<void(Result<std::vector<ListedBlob>>)> done, std::string after = {});

    // Blocks, for opening; tries again only where no answer came. Threads: any but the loop's and
    // the fetcher's.
    Result<BlobAnswer> ask_now(const BlobRequest& request);

    const BlobAccount& account() const { return account_; }
    const Clock& clock() const { return loop_.clock(); }
    // How many were sent, for figures.
    std::uint64_t requests() const { return requests_; }

private:
    struct Asked;
    struct Listing;

    BlobService(BlobAccount account, const BlobOptions& options, io::Loop& loop,
                std::unique_ptr<http::Fetcher> fetcher);
    Result<BlobAnswer> ask_once(const BlobRequest& request);
    void send(std::shared_ptr<Asked> asked);
    void receive(const std::shared_ptr<Asked>& asked, Result<http::Fetched> fetched);
    void try_again(const std::shared_ptr<Asked>& asked, Error why);
    void next_page(const std::shared_ptr<Listing>& listing);
    // An answer, or the error that it is to every caller.
    Result<BlobAnswer> judge(BlobAnswer answer) const;

    const BlobAccount account_;
    const BlobOptions options_;
    io::Loop& loop_;
    Random random_;
    std::uint64_t requests_ = 0;
    Lifetime lifetime_;
    std::unique_ptr<http::Fetcher> fetcher_;  // ends first, with its thread
};

// Pure: what the service said.
BlobAnswer blob_answer_of(http::Fetched fetched);
BlobRequest blob_list_request(const std::string& prefix, std::size_t page_items,
                              const std::string& marker);

}  // namespace evenkeel::checkpoint
