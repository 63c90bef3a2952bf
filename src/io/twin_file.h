// A small text, kept durably in a file and a copy of it, so that a damaged one leaves the other.
// Each is replaced as a whole.
//
//     save: NAME.tmp, NAME.copy.tmp written and synced ──▶ both renamed ──▶ folder synced
//     load: the good one of the two whose generation is higher
//
// Invariants
//   IO-5  save() returns success when both files are durable: each of them alone has the text.
//   IO-6  A crash leaves the old text or the new one. Without space nothing changes.
// Errors: as io/file.h has them. After any other failure of save() than for want of space either
// text may be loaded. Calls block. Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "io/file.h"

namespace evenkeel::io {

// A value: copies stand for the same two files. `files` outlives it.
class TwinFile {
public:
    struct Options {
        std::string directory;  // must exist
        std::string name;
        std::uint64_t bytes_max = 0;
        OpenMode mode = OpenMode::create;  // or create_private
    };
    TwinFile(FileSystem& files, Options options) : files_(&files), options_(std::move(options)) {}

    template <typename Content>
    struct Loaded {
        Content content;
        bool is_whole = true;  // false if a file is missing, damaged or older: save() again
    };
    // A Content has a `generation`, which rises with each text. None if neither file exists.
    // `corrupt`, naming the files, if no good one is left; `unsupported` if a newer version of
    // Evenkeel wrote one of them.
    template <typename Content>
    Result<std::optional<Loaded<Content>>> load(Result<Content> (*decode)(std::string_view)) const {
        std::vector<Content> good;
        Damage damage;
        for (const std::string& path : paths()) {
            const auto bytes = read_file(*files_, path, options_.bytes_max);
            if (!bytes.ok() && bytes.error().code == ErrorCode::not_found) continue;
            auto content = bytes.ok() ? decode(as_text(*bytes)) : Result<Content>(bytes.error());
            if (content.ok()) {
                good.push_back(std::move(*content));
            } else {
                EK_TRY(damage.add(path, content.error()));
            }
        }
        if (good.empty()) {
            EK_TRY(damage.result());
            return std::optional<Loaded<Content>>();
        }
        const bool is_whole = good.size() == 2 && good[0].generation == good[1].generation;
        auto& newest =
            good.back().generation > good.front().generation ? good.back() : good.front();
        return std::optional(Loaded<Content>{std::move(newest), is_whole});
    }

    Result<> save(std::string_view text) const;

private:
    // Why files cannot be used.
    class Damage {
    public:
        // Fails if the other file must not be used either: it may be older than one that a newer
        // version wrote, and the next save() would replace both.
        Result<> add(const std::string& path, const Error& why);
        Result<> result() const;

    private:
        std::string reasons_;
        ErrorCode code_ = ErrorCode::corrupt;
    };
    std::vector<std::string> paths() const;

    FileSystem* files_;
    Options options_;
};

}  // namespace evenkeel::io
