// `evenkeel checkpoint` on containers, with fixtures of other programs' layouts: on a server in
// this process, and on the emulator if a script has started one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint/blob/account.h"
#include "checkpoint/blob/server_fixture.h"
#include "checkpoint/blob/service.h"
#include "io/system/loop.h"
#include "process/store/azurite.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::test {

enum class BlobPlace : unsigned char { in_process, azurite };

class BlobCommand : public testing::TestWithParam<BlobPlace> {
protected:
    BlobCommand() {
        if (GetParam() == BlobPlace::in_process) {
            server_ = std::make_unique<checkpoint::BlobServer>();
            container_ = server_->address();
            return;
        }
        container_ = azurite_address();
        EXPECT_TRUE(service()
                        ->ask_now({.method = "PUT", .query = {{"restype", "container"}}})
                        .value()
                        .is_good());
    }

    std::string container() const { return "azblob:" + container_; }
    std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
    std::string sqlite(const std::string& name) const { return "sqlite:" + file(name); }
    bool is_azurite() const { return GetParam() == BlobPlace::azurite; }
    checkpoint::BlobServer& server() { return *server_; }

    // As another program writes it.
    void put(const std::string& name, const checkpoint::Metadata& metadata, std::string body = {}) {
        const auto answer = service()->ask_now({.method = "PUT",
                                                .blob = name,
                                                .metadata = metadata,
                                                .is_block_blob = true,
                                                .body = std::move(body)});
        ASSERT_TRUE(answer.ok() && answer->is_good()) << name;
    }
    void put_json(const std::string& name, const std::string& json) { put(name, {}, json); }

    fault::Outcome run(const std::string& what, std::vector<std::string> more) const {
        std::vector<std::string> command = {
            test::evenkeel_program(), "checkpoint", what, "homes", "--namespace",
            "myns.example.net"};
        command.insert(command.end(), more.begin(), more.end());
        return fault::run_to_end(command);
    }
    fault::Outcome import(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> all = {"--from", container(), "--to", sqlite("to.db")};
        all.insert(all.end(), more.begin(), more.end());
        return run("import", all);
    }
    // "0:41:700 1:42:" of partition, sequence number and offset.
    std::string positions(const std::string& store) const {
        const fault::Outcome exported = run("export", {"--store", store});
        EXPECT_EQ(exported.exit_code, 0) << exported.errors;
        std::string found;
        std::size_t at = 0;
        const auto value = [&](const std::string& name) {
            at = exported.output.find("\"" + name + "\":", at) + name.size() + 3;
            const std::string text =
                exported.output.substr(at, exported.output.find_first_of(",}", at) - at);
            return text.starts_with('"') ? text.substr(1, text.size() - 2) : text;
        };
        while (exported.output.find("\"partition\"", at) != std::string::npos) {
            if (!found.empty()) found += " ";
            found += value("partition");
            found += ":" + value("sequence");
            found += ":" + value("offset");
        }
        return found;
    }
    std::string positions() const { return positions(sqlite("to.db")); }

    static bool has(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

private:
    std::unique_ptr<checkpoint::BlobService> service() {
        return checkpoint::BlobService::open(checkpoint::parse_blob_account(container_).value(), {},
                                             loop_)
            .value();
    }

    io::system::LoopThread loop_{"fixture"};  // for its clock
    const TemporaryDirectory folder_;
    std::unique_ptr<checkpoint::BlobServer> server_;
    std::string container_;
};

}  // namespace evenkeel::test
