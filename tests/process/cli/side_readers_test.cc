// Commands that read all of an event hub while an event processor reads it alone.
#include <utility>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

class BesideProcessor : public ProcessTest {
protected:
    // A processor that has all of the event hub, in $Default.
    std::unique_ptr<Process> processing(std::string event_hub) {
        const std::string own = std::exchange(name_, std::move(event_hub));
        store_ = "sqlite:" + hub_->file(name_ + "-beside.db");
        auto running = std::make_unique<Process>(process({"--exec", "cat > /dev/null"}));
        EXPECT_TRUE(eventually([&] { return is_done(); })) << status().output;
        name_ = own;
        return running;
    }
    static void end(Process& process) {
        process.signal(SIGINT);
        process.wait();
    }
    static std::string groups_of(const std::string& hub) {
        return evenkeel({"group", "ls", hub, "-o", "name"}).output;
    }
};

TEST_F(BesideProcessor, an_event_hub_is_backed_up_and_copied) {
    create(2);
    send({"-p", "0", "one", "two"});
    send({"-p", "1", "three"});
    const std::string file = hub_->file(name_ + ".backup");
    const auto running = processing(name_);
    ASSERT_EQ(evenkeel({"read", name_, "-n", "1"}).exit_code, 4) << "it reads alone";

    const auto saved = evenkeel({"hub", "backup", name_, file});
    const auto copied = evenkeel({"hub", "copy", name_, name_ + "-2"});
    end(*running);

    EXPECT_EQ(saved.exit_code, 0) << saved.errors;
    EXPECT_TRUE(has(saved.errors, "3 events, 2 partitions")) << saved.errors;
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_EQ(evenkeel({"read", name_ + "-2", "-p", "0", "-f", "%v\\n"}).output, "one\ntwo\n");
    EXPECT_EQ(groups_of(name_), "$Default\n") << "the one to look with is removed";
    EXPECT_EQ(groups_of(name_ + "-2"), "$Default\n");
}

TEST_F(BesideProcessor, a_key_without_manage_is_told_what_it_lacks) {
    create(1);
    send({"bad"});
    const std::string letters = name_ + "-dead";
    ASSERT_EQ(evenkeel({"hub", "create", letters, "--partitions", "1"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"send", letters, "-q", "anything"}).exit_code, 0);
    const auto key =
        evenkeel({"key", "create", "listener", "--rights", "send,listen", "-o", "json"});
    const std::string mark = "\"primary_connection_string\": \"";
    const auto begin = key.output.find(mark) + mark.size();
    const std::string weak = key.output.substr(begin, key.output.find('"', begin) - begin);
    const auto running = processing(letters);

    const auto allowed = evenkeel({"deadletter", "ls", name_, "--dead-letter", letters});
    const auto refused =
        evenkeel({"deadletter", "ls", name_, "--dead-letter", letters, "--hub", weak});
    end(*running);

    EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
    EXPECT_TRUE(has(allowed.errors, "0 dead letters")) << allowed.errors;
    EXPECT_EQ(refused.exit_code, 4) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "a group to look with cannot be made")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "'manage'")) << refused.errors;
    EXPECT_FALSE(has(refused.errors, "--group NAME")) << refused.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
