#include "process/processor/lab.h"

#include <algorithm>

#include <signal.h>
#include <sys/wait.h>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sqlite3.h>

#include "io/system/files.h"
#include "support/paths.h"

namespace evenkeel::lab {
namespace {

constexpr std::uint64_t run = 7;
constexpr std::uint32_t producer_process = 1000;

// False if somebody holds the file's lock for longer than any write takes.
bool takes_writes(const std::string& file) {
    sqlite3* database = nullptr;
    bool takes = sqlite3_open(file.c_str(), &database) == SQLITE_OK;
    sqlite3_busy_timeout(database, 1000);
    takes = takes && sqlite3_exec(database, "BEGIN IMMEDIATE; ROLLBACK", nullptr, nullptr,
                                  nullptr) == SQLITE_OK;
    sqlite3_close(database);
    return takes;
}

}  // namespace

Lab::Lab(LabOptions options)
    : options_(std::move(options)), store_file_(directory_.path() + "/progress.db") {
    start_hub();
    checker_ =
        std::make_unique<demo::Checker>(1, std::vector<std::int64_t>(options_.partitions, -1));
    checker_->on_read([this](const demo::Report& report) {
        progress_.handled(report.partition, report.sequence,
                          report.sequence + static_cast<std::int64_t>(report.count) - 1,
                          report.at_ms);
    });
    cast_ = std::make_unique<demo::Cast>(*checker_, connection(), test::evenkeel_program());
    mark_progress();
}

Lab::~Lab() {
    // A stopped process does not hear that it should end.
    for (std::uint32_t i = 0; i < processors_.size(); ++i) resume_processor(i);
}

void Lab::fail(const char* what) {
    ADD_FAILURE() << "waited in vain until " << what;
}

void Lab::pass(Duration time) {
    constexpr auto step = std::chrono::milliseconds(10);
    const Instant end = clock_.now() + time;
    do {
        sample_progress();
        poll(nullptr, 0, static_cast<int>(step.count()));  // tidy: allow sleep: time passes
    } while (clock_.now() < end);
}

void Lab::sample_progress() {
    if (!options_.store.empty()) return;
    const auto stored = stored_.read();
    if (stored) progress_.sampled(*stored, clock_.wall().milliseconds);
}

std::string Lab::connection() const {
    return fmt::format(
        "Endpoint=sb://127.0.0.1:{};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true",
        port_);
}

std::string Lab::store_option() const {
    return "--store=" + (options_.store.empty() ? "sqlite:" + store_file_ : options_.store);
}

void Lab::start_hub() {
    const std::string ready = directory_.path() + "/ready.json";
    io::system::SystemFiles files;
    (void)files.remove(ready);
    hub_ = std::make_unique<fault::Process>(std::vector<std::string>{
        test::evenkeel_program(), "dev", "--data", directory_.path() + "/hub", "--port",
        std::to_string(port_), "--http-port", "0", "--ready-file", ready, "--hub",
        fmt::format("lab:{}", options_.partitions)});
    std::string text;
    wait_until("the hub is ready", [&] {
        const auto bytes = io::read_file(files, ready, 1 << 16);
        if (bytes.ok()) text = std::string(as_text(*bytes));
        return text.find('}') != std::string::npos;
    });
    const std::string key = "\"amqp_port\"";
    const auto at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    const auto digit = text.find_first_of("0123456789", at + key.size());
    port_ = static_cast<std::uint16_t>(std::stoul(text.substr(digit)));
}

void Lab::kill_hub() {
    hub_->signal(SIGKILL);
    hub_->wait();
}

void Lab::start_producer() {
    const auto started =
        cast_->start({"demo-producer", "--hub=lab", fmt::format("--run={}", run),
                      fmt::format("--partitions={}", options_.partitions), "--producers=1",
                      "--event-bytes=64", "--batch=10", fmt::format("--rate={}", options_.rate)},
                     producer_process);
    ASSERT_TRUE(started.ok());
    producer_ = *started;
}

std::uint32_t Lab::start_processor(const std::string& id) {
    const auto number = static_cast<std::uint32_t>(processors_.size());
    const auto started = cast_->start(
        {"demo-member", "--hub=lab", store_option(), "--profile=" + options_.profile,
         "--id=" + (id.empty() ? fmt::format("p{}", number) : id), "--checkpoint-every=200",
         "--batch=50", fmt::format("--run={}", run), "--producers=1"},
        number);
    EXPECT_TRUE(started.ok());
    processors_.push_back(*started);
    is_running_.push_back(true);
    return number;
}

fault::Outcome Lab::try_processor(const std::string& id) {
    return fault::run_to_end({test::evenkeel_program(), "process", "lab", "--connection",
                              connection(), store_option(), "--profile=" + options_.profile,
                              "--id=" + id, "-q"});
}

void Lab::kill_processor(std::uint32_t processor) {
    cast_->kill(processors_[processor]);
    is_running_[processor] = false;
}

void Lab::stop_processor(std::uint32_t processor) {
    cast_->stop(processors_[processor]);
    is_running_[processor] = false;
}

void Lab::pause_processor(std::uint32_t processor) {
    const pid_t id = cast_->id(processors_[processor]);
    while (true) {
        kill(id, SIGSTOP);
        siginfo_t stopped = {};
        ASSERT_EQ(waitid(P_PID, static_cast<id_t>(id), &stopped, WSTOPPED | WNOWAIT), 0);
        if (!options_.store.empty() || takes_writes(store_file_)) return;
        kill(id, SIGCONT);
        pass(std::chrono::milliseconds(100));
    }
}

void Lab::resume_processor(std::uint32_t processor) {
    kill(cast_->id(processors_[processor]), SIGCONT);
}

bool Lab::is_shared_by(const std::vector<std::uint32_t>& processors) const {
    std::vector<std::size_t> counts(processors.size());
    for (const auto& partition : checker_->traffic().partitions) {
        const auto found = std::find(processors.begin(), processors.end(),
                                     static_cast<std::uint32_t>(partition.owner.load()));
        if (found == processors.end()) return false;
        ++counts[static_cast<std::size_t>(found - processors.begin())];
    }
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    return *most - *least <= 1;
}

void Lab::mark_progress() {
    marks_.clear();
    for (const auto& partition : checker_->traffic().partitions) {
        marks_.push_back(partition.read_up_to);
    }
}

bool Lab::has_progressed(std::int64_t events) {
    const auto& partitions = checker_->traffic().partitions;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        if (partitions[i].read_up_to < marks_[i] + events) return false;
    }
    return true;
}

demo::Verdict Lab::finish() {
    cast_->stop(*producer_);
    wait_until("the producer has ended", [&] { return cast_->is_gone(*producer_); });
    wait_until("all that was acknowledged is handled", [&] {
        for (const auto& partition : checker_->traffic().partitions) {
            if (partition.read.value() < partition.durable.value()) return false;
        }
        return true;
    });
    for (std::uint32_t i = 0; i < processors_.size(); ++i) {
        if (is_running_[i]) stop_processor(i);
    }
    cast_->finish();
    sample_progress();
    if (options_.store.empty()) {
        EXPECT_EQ(progress_.judge(), "");
        EXPECT_EQ(progress_.judge_end(), "");
        EXPECT_GT(progress_.changes_seen(), options_.partitions) << "nobody looked";
    }
    demo::Verdict verdict;
    checker_->judge(verdict);
    verdict.repeated_max = ~std::uint64_t{0};
    if (const auto error = checker_->error()) ADD_FAILURE() << to_string(*error);
    return verdict;
}

}  // namespace evenkeel::lab
