#include "processor/ownership/ownership_writer.h"

#include <utility>

#include "base/check.h"

namespace evenkeel::processor {

using checkpoint::Ownership;

void write_ownerships(checkpoint::Store& store, std::vector<Ownership> entries,
                      Callback<void(WrittenOwnerships)> done) {
    std::vector<Ownership> wanted = entries;
    store.write_ownerships(
        std::move(wanted), [entries = std::move(entries), done = std::move(done)](
                               Result<std::vector<Result<std::string>>> versions) mutable {
            if (!versions.ok()) return done(versions.error());
            if (versions->size() != entries.size()) {
                return done(Error{ErrorCode::unavailable, "answers are missing"});
            }
            std::vector<Result<Ownership>> written;
            for (std::size_t i = 0; i < entries.size(); ++i) {
                if (const auto& version = (*versions)[i]; version.ok()) {
                    entries[i].version = *version;
                    written.emplace_back(std::move(entries[i]));
                } else {
                    written.emplace_back(version.error());
                }
            }
            done(std::move(written));
        });
}

void OwnershipWriter::write(std::vector<Ownership> entries,
                            Callback<void(const WrittenOwnerships&)> done) {
    std::vector<PartitionId> partitions;
    for (const Ownership& entry : entries) {
        EK_CHECK(!ownerships_.is_writing(entry.partition), "a record is written twice (OWN-14)");
        ownerships_.begin_write(entry.partition);  // OWN-12
        partitions.push_back(entry.partition);
    }
    ++requests_;
    write_ownerships(store_, std::move(entries),
                     steps_.wrap([this, partitions = std::move(partitions), done = std::move(done)](
                                     const WrittenOwnerships& written) mutable {
                         const Instant now = loop_.clock().now();
                         for (const PartitionId partition : partitions) {
                             ownerships_.end_write(partition, now);
                         }
                         if (written.ok()) {
                             for (const Result<Ownership>& entry : *written) {
                                 if (entry.ok()) ownerships_.set(*entry, now);  // OWN-13
                             }
                         }
                         done(written);
                     }));
}

}  // namespace evenkeel::processor
