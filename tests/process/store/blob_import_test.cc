// `evenkeel checkpoint import --from azblob:...`: checkpoints of other programs, byte for byte as
// they write them.
#include <chrono>

#include <unistd.h>

#include <fmt/format.h>

#include "checkpoint/contract/blocking_client_fixture.h"
#include "checkpoint/open.h"
#include "process/store/blob_command_fixture.h"

namespace evenkeel::test {
namespace {

const std::string group = "myns.example.net/homes/$Default/";
const std::string lower_group = "myns.example.net/homes/$default/";

// As EventProcessorHost writes it, and Functions' extension up to 4.
std::string lease(int partition, const std::string& offset, long long sequence) {
    return fmt::format(R"({{"Offset":{},"SequenceNumber":{},"PartitionId":"{}","Owner":"host-1",)"
                       R"("Token":"6d9a2c7e","Epoch":3}})",
                       offset, sequence, partition);
}

TEST_P(BlobCommand, imports_json_of_functions) {
    put_json(group + "0", lease(0, R"("4294967296")", 41));
    put_json(group + "1", lease(1, R"("800")", 42));
    put_json("other.example.net/homes/$Default/0", lease(0, R"("1")", 1));

    const auto planned = import({"--dry-run"});

    EXPECT_EQ(planned.exit_code, 10) << planned.errors;
    EXPECT_TRUE(has(planned.output, "2 checkpoints in the layout 'functions'")) << planned.output;
    EXPECT_TRUE(has(planned.output, "partition 0: -1 -> 41")) << planned.output;
    EXPECT_NE(access(file("to.db").c_str(), F_OK), 0) << "a dry run makes no store";
    const auto done = import();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(positions(), "0:41:4294967296 1:42:800");
}

TEST_P(BlobCommand, imports_leases_of_event_processor_hosts) {
    put_json("$Default/0", lease(0, R"("700")", 41));
    put_json("$Default/1", lease(1, "null", 0));
    put_json("$Default/2", lease(2, R"("no offset")", 43));

    const auto done = import({"--layout", "lease"});

    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(positions(), "0:41:700 2:43:");
    EXPECT_TRUE(has(done.errors, "'$Default/1': no offset in it")) << done.errors;
    EXPECT_TRUE(has(done.errors, "'$Default/2': its offset is the text 'no offset'"))
        << done.errors;
}

TEST_P(BlobCommand, imports_from_a_path_that_is_named) {
    put_json("old$Default/0", lease(0, R"("700")", 41));

    const auto lost = import();
    const auto done = import({"--path", "old$Default/"});

    EXPECT_EQ(lost.exit_code, 3) << lost.errors;
    EXPECT_TRUE(has(lost.errors, "'old$Default/'")) << lost.errors;
    EXPECT_TRUE(has(lost.errors, "--path")) << lost.errors;
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(positions(), "0:41:700");
}

TEST_P(BlobCommand, imports_metadata_of_todays_sdks) {
    put(lower_group + "checkpoint/0", {{"offset", "700"}, {"sequencenumber", "41"}});
    put(lower_group + "checkpoint/1", {{"offset", "no offset"}, {"sequencenumber", "42"}});
    put(lower_group + "checkpoint/2", {{"offset", ""}, {"sequencenumber", "43"}});
    put(lower_group + "checkpoint/3", {{"offset", "900"}});
    put(lower_group + "ownership/0", {{"ownerid", ""}});
    put_json(group + "0", lease(0, R"("1")", 1));  // what they had before

    const auto done = import();

    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_TRUE(has(done.output, "4 checkpoints in the layout 'metadata'")) << done.output;
    EXPECT_TRUE(has(done.output, "partition 3: -1 -> offset 900")) << done.output;
    EXPECT_EQ(positions(), "0:41:700 1:42: 2:43: 3:-1:900");
    EXPECT_TRUE(has(done.errors, "checkpoint/1': its offset is the text 'no offset'"))
        << done.errors;
    EXPECT_TRUE(has(done.errors, "checkpoint/2': its offset is empty")) << done.errors;
}

TEST_P(BlobCommand, imports_into_a_container_too) {
    put_json("$Default/0", lease(0, R"("700")", 41));

    const auto done = run("import", {"--from", container(), "--to", container()});

    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(positions(container()), "0:41:700");
}

TEST_P(BlobCommand, import_goes_back_only_if_forced) {
    put_json("$Default/0", lease(0, R"("700")", 41));
    put_json("$Default/1", lease(1, R"("800")", 42));
    ASSERT_EQ(import().exit_code, 0);
    ASSERT_EQ(
        run("set", {"--store", sqlite("to.db"), "--to", "seq:100", "--partition", "0"}).exit_code,
        0);

    const auto again = import();

    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_TRUE(has(again.output, "partition 0: stays at 99 (the other one is behind, at 41"))
        << again.output;
    EXPECT_TRUE(has(again.output, "partition 1: stays at 42 (already stored")) << again.output;
    EXPECT_EQ(positions(), "0:99: 1:42:800");
    EXPECT_EQ(import({"--force"}).exit_code, 0);
    EXPECT_EQ(positions(), "0:41:700 1:42:800");
}

TEST_P(BlobCommand, import_names_every_record_it_cannot_use) {
    put_json(group + "0", lease(0, R"("700")", 41));
    put_json(group + "1", lease(1, R"("800")", 42).substr(0, 30));
    put_json(group + "2", R"({"colour":"red"})");
    put_json(group + "3", "");

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_TRUE(has(refused.errors, group + "1'")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "half written")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, group + "2'")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, group + "3'")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "--partition")) << refused.errors;
    EXPECT_NE(access(file("to.db").c_str(), F_OK), 0) << "nothing was made";
    EXPECT_EQ(import({"--partition", "0"}).exit_code, 0);
    EXPECT_EQ(positions(), "0:41:700");
}

TEST_P(BlobCommand, import_names_groups_that_differ_only_by_case) {
    put(lower_group + "checkpoint/0", {{"offset", "700"}, {"sequencenumber", "41"}});
    put(group + "checkpoint/0", {{"offset", "900"}, {"sequencenumber", "43"}});
    put(group + "checkpoint/1", {{"offset", "901"}, {"sequencenumber", "44"}});

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "'" + lower_group + "' (1 partitions)")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "'" + group + "' (2 partitions)")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "lower case")) << refused.errors;
    EXPECT_EQ(import({"--path", group}).exit_code, 0);
    EXPECT_EQ(positions(), "0:43:900 1:44:901");
}

TEST_P(BlobCommand, makes_no_container_in_a_dry_run) {
    put(lower_group + "checkpoint/0", {{"offset", "700"}, {"sequencenumber", "41"}});
    const std::string missing =
        container().substr(0, container().find("Container=")) + "Container=" + new_container();
    const auto import_to = [&](const std::string& to) {
        return run("import", {"--dry-run", "--from", container(), "--to", to});
    };

    const auto would_be_made = import_to(missing + ";Create=true");
    const auto would_fail = import_to(missing);

    EXPECT_EQ(would_be_made.exit_code, 10) << would_be_made.errors;
    EXPECT_TRUE(has(would_be_made.output, "partition 0: -1 -> 41")) << would_be_made.output;
    EXPECT_NE(would_fail.exit_code, 0) << "the first one made it";
    EXPECT_TRUE(has(would_fail.errors, "Create=true")) << would_fail.errors;
}

TEST_P(BlobCommand, import_leaves_processors_at_work_alone) {
    put(lower_group + "checkpoint/0", {{"offset", "700"}, {"sequencenumber", "41"}});
    put(lower_group + "ownership/0", {{"ownerid", "worker-7"}});

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "worker-7")) << refused.errors;
    EXPECT_EQ(import({"--dry-run"}).exit_code, 10);
    EXPECT_NE(access(file("to.db").c_str(), F_OK), 0);
    EXPECT_EQ(import({"--force"}).exit_code, 0);
    EXPECT_EQ(positions(), "0:41:700");
}

// On the server in this process, which does what the emulator is not asked for.
class LeasedBlob : public BlobCommand {};

TEST_P(LeasedBlob, is_left_alone_by_import) {
    put_json("$Default/0", lease(0, R"("700")", 41));
    server().lease("$Default/0");

    const auto refused = import();

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "lease")) << refused.errors;
    EXPECT_EQ(import({"--force"}).exit_code, 0);
}

// On Blob storage a processor writes that it lives every 35 s.
TEST_P(LeasedBlob, a_processor_that_wrote_a_minute_ago_is_at_work) {
    put(lower_group + "checkpoint/0", {{"offset", "700"}, {"sequencenumber", "41"}});
    {
        checkpoint::BlockingClient client([&](io::Loop& loop) {
            return checkpoint::open_store(container(), {"myns.example.net", "homes", "$Default"},
                                          loop)
                .value();
        });
        ASSERT_TRUE(client.write(checkpoint::Member{.id = "worker-7", .incarnation = "1"}));
        ASSERT_TRUE(client.write(
            checkpoint::Ownership{.partition = {0}, .owner = "worker-7", .epoch = {1}}));
    }
    const auto set = [&] { return run("set", {"--store", container(), "--to", "start"}); };

    server().age(std::chrono::minutes(1));
    const auto refused = set();
    server().age(std::chrono::minutes(2));
    const auto done = set();

    EXPECT_EQ(refused.exit_code, 6) << refused.output;
    EXPECT_TRUE(has(refused.errors, "worker-7")) << refused.errors;
    EXPECT_EQ(done.exit_code, 0) << done.errors;
}

TEST_P(BlobCommand, import_says_what_is_wrong_with_an_address) {
    const auto with = [&](const std::string& from, const std::string& layout = "auto") {
        return run("import", {"--from", from, "--to", sqlite("to.db"), "--layout", layout});
    };
    const auto nothing = import();
    EXPECT_EQ(nothing.exit_code, 3) << nothing.errors;
    EXPECT_TRUE(has(nothing.errors, "myns.example.net/homes/$Default")) << nothing.errors;
    std::string elsewhere = container();
    elsewhere.replace(elsewhere.find("Container="), std::string::npos, "Container=nowhere");
    const auto missing = with(elsewhere);
    EXPECT_EQ(missing.exit_code, 3) << missing.errors;
    EXPECT_TRUE(has(missing.errors, "nowhere")) << missing.errors;
    EXPECT_EQ(with(container(), "jedis").exit_code, 2);
    EXPECT_EQ(with("redis://127.0.0.1", "lease").exit_code, 2);
    const auto ours = with("sqlite:from.db");
    EXPECT_EQ(ours.exit_code, 2);
    EXPECT_TRUE(has(ours.errors, "checkpoint copy")) << ours.errors;
    EXPECT_EQ(with("mysql://me:hush@host/x").exit_code, 2);
    EXPECT_FALSE(has(with("mysql://me:hush@host/x").errors, "hush"));
    EXPECT_EQ(run("import", {"--to", sqlite("to.db")}).exit_code, 2);
    EXPECT_EQ(import({"--file", "x"}).exit_code, 2);
    EXPECT_NE(access(file("to.db").c_str(), F_OK), 0);
    if (!is_azurite()) return;  // the other one does not look at keys
    std::string locked = container();
    locked.replace(locked.find("UseDevelopmentStorage=true"),
                   sizeof("UseDevelopmentStorage=true") - 1,
                   "AccountName=devstoreaccount1;AccountKey=aHVzaGh1c2g=");
    const auto wrong_key = with(locked);
    EXPECT_EQ(wrong_key.exit_code, 2) << wrong_key.errors;
    EXPECT_TRUE(has(wrong_key.errors, "AccountKey")) << wrong_key.errors;
    EXPECT_FALSE(has(wrong_key.errors, "aHVzaGh1c2g")) << wrong_key.errors;
}

INSTANTIATE_TEST_SUITE_P(Blob, BlobCommand, testing::Values(BlobPlace::in_process));
INSTANTIATE_TEST_SUITE_P(Blob, LeasedBlob, testing::Values(BlobPlace::in_process));
INSTANTIATE_TEST_SUITE_P(Azurite, BlobCommand,
                         testing::ValuesIn(has_azurite() ? std::vector{BlobPlace::azurite}
                                                         : std::vector<BlobPlace>()));

}  // namespace
}  // namespace evenkeel::test
