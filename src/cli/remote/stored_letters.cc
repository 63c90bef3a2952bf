#include <algorithm>

#include "cli/remote/entries.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/store_session.h"

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;
using checkpoint::DeadLetterPage;

// Each may have a megabyte.
constexpr std::size_t page_letters_max = 20;

class StoredLetters final : public LetterBox {
public:
    // Without a session the group has no entries.
    explicit StoredLetters(std::unique_ptr<StoreSession> session) : session_(std::move(session)) {}

    Result<std::vector<LetterRow>> list() override {
        std::vector<LetterRow> rows;
        DeadLetterPage page{.count_max = page_letters_max};
        while (session_) {
            EK_TRY_ASSIGN(auto letters, read(page));
            if (letters.empty()) break;
            page.after = id_of(letters.back());
            for (DeadLetter& letter : letters) {
                const std::uint64_t bytes = event_of(letter).body().size();
                letter.sections = {};
                rows.push_back({std::move(letter), bytes});
            }
        }
        return rows;
    }

    // A page begins with the next one that is wanted.
    Result<> each(const std::vector<DeadLetterId>& ids, const Visit& visit) override {
        for (auto next = ids.begin(); session_ && next != ids.end();) {
            const auto left = static_cast<std::size_t>(ids.end() - next);
            EK_TRY_ASSIGN(const auto letters, read({.count_max = std::min(left, page_letters_max),
                                                    .after = before(*next)}));
            if (letters.empty()) break;
            for (const DeadLetter& letter : letters) {
                if (!std::binary_search(next, ids.end(), id_of(letter))) continue;
                EK_TRY(visit(letter));
            }
            next = std::upper_bound(next, ids.end(), id_of(letters.back()));
        }
        return {};
    }

    Result<> remove(const DeadLetter& letter) override {
        if (!session_) return {};
        return session_->ask<void>([id = id_of(letter)](checkpoint::Store& store, auto done) {
            store.remove_dead_letter(id, std::move(done));
        });
    }

private:
    Result<std::vector<DeadLetter>> read(const DeadLetterPage& page) {
        return session_->ask<std::vector<DeadLetter>>([page](checkpoint::Store& store, auto done) {
            store.list_dead_letters(page, std::move(done));
        });
    }
    static DeadLetterId before(DeadLetterId id) { return {id.partition, {id.sequence.value - 1}}; }

    const std::unique_ptr<StoreSession> session_;
};

}  // namespace

Result<std::unique_ptr<LetterBox>> open_stored_letters(const LetterBoxOptions& options) {
    EK_TRY_ASSIGN(auto session, open_entries(options.store,
                                             {options.hub_namespace, options.place.event_hub,
                                              options.place.group},
                                             options.remote, {options.purpose}));
    return std::unique_ptr<LetterBox>(std::make_unique<StoredLetters>(std::move(session)));
}

Result<std::unique_ptr<LetterBox>> LetterBox::open(const LetterBoxOptions& options) {
    return options.letter_hub == "store" ? open_stored_letters(options) : open_hub_letters(options);
}

}  // namespace evenkeel::cli
