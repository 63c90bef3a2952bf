#include "cli/exact_sender.h"

#include <fmt/core.h>

namespace evenkeel::cli {
namespace {

constexpr auto try_pause = std::chrono::milliseconds(500);

bool may_pass(ErrorCode code) {
    return code == ErrorCode::unavailable || code == ErrorCode::timed_out ||
           code == ErrorCode::overloaded;
}

Error interrupted() {
    return {ErrorCode::cancelled, "interrupted"};
}

}  // namespace

Result<PartitionInfo> ExactSender::begin(std::uint32_t partition) {
    partition_ = partition;
    is_unknown_ = false;
    EK_TRY_ASSIGN(auto info, look());
    next_ = info.last_enqueued_sequence_number + 1;
    return info;
}

Result<PartitionInfo> ExactSender::look() {
    for (int i = 1;; ++i) {
        auto info = link_.look(partition_);
        if (info.ok() || !may_pass(info.error().code) || i == tries_max) return info;
        link_.drop();
        if (link_.wait(try_pause * i)) return interrupted();
    }
}

Result<> ExactSender::send(const SendBatch& batch) {
    for (int i = 1;; ++i) {
        bool is_stored = false;
        auto tried = try_once(batch, is_stored);
        if (is_stored) break;
        if (tried.ok() || !may_pass(tried.error().code) || i == tries_max) return tried;
        if (link_.wait(try_pause * i)) return interrupted();
    }
    next_ += static_cast<std::int64_t>(batch.size());
    return {};
}

Result<> ExactSender::try_once(const SendBatch& batch, bool& is_stored) {
    if (is_unknown_) {
        EK_TRY_ASSIGN(const auto info, look());
        const std::int64_t behind = info.last_enqueued_sequence_number + 1;
        is_stored = behind == next_ + static_cast<std::int64_t>(batch.size());
        if (!is_stored && behind != next_) return foreign();
        is_unknown_ = false;
        if (is_stored) return {};
    }
    const auto receipt = link_.send(batch);
    if (receipt.ok()) {
        is_stored = receipt->first_sequence_number == next_;
        return is_stored ? Result<>() : Result<>(foreign());
    }
    is_unknown_ = may_pass(receipt.error().code);
    link_.drop();
    return receipt.error();
}

Error ExactSender::foreign() const {
    return {ErrorCode::conflict,
            fmt::format("another program sends to partition {}: its events lie among the restored "
                        "ones",
                        partition_)};
}

}  // namespace evenkeel::cli
