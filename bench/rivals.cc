// Redis and PostgreSQL as `bench against` speaks to them: their protocols on a plain socket, so
// that no client library's threads and queues are measured.
// tidy: no test: run as a real process by the tests of the command line
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <poll.h>

#include "base/bytes.h"
#include "bench/against.h"
#include "checkpoint/redis/resp.h"

namespace evenkeel::bench {
namespace {

using checkpoint::RespReader;
using checkpoint::RespValue;

constexpr int moment_ms = 100;

bool has_input(int descriptor, int wait_ms) {
    pollfd wanted{descriptor, POLLIN, 0};
    return poll(&wanted, 1, wait_ms) > 0;
}

Error refused(std::string_view server, std::string_view why) {
    return {ErrorCode::corrupt, fmt::format("{} answered: {}", server, why)};
}

// A socket and what came from it.
class Input {
public:
    explicit Input(BareSocket socket) : socket_(std::move(socket)) {}
    Result<std::string_view> read() {
        EK_TRY_ASSIGN(const std::size_t got, socket_.read(bytes_));
        if (got == 0) return Error{ErrorCode::unavailable, "the server ended the connection"};
        return as_text(ByteView(bytes_).first(got));
    }
    Result<> write(std::string_view text) { return socket_.write(as_bytes(text)); }
    int descriptor() const { return socket_.descriptor(); }

private:
    BareSocket socket_;
    std::array<std::byte, std::size_t{64} << 10> bytes_{};
};

std::string stream_of(std::uint32_t partition) {
    return fmt::format("s{}", partition);
}

class RedisWriter final : public RivalWriter {
public:
    explicit RedisWriter(BareSocket socket) : input_(std::move(socket)) {}

    Result<> prepare(std::uint32_t) override { return {}; }
    void add(std::uint32_t partition, std::string_view body) override {
        checkpoint::append_command(output_,
                                   {"XADD", stream_of(partition), "*", "b", std::string(body)});
    }
    Result<> send() override {
        EK_TRY(input_.write(output_));
        output_.clear();
        return {};
    }
    Result<> take_answers() override {
        while (has_input(input_.descriptor(), 0)) {
            EK_TRY_ASSIGN(const auto bytes, input_.read());
            replies_.receive(bytes);
            while (true) {
                EK_TRY_ASSIGN(const auto reply, replies_.next());
                if (!reply) break;
                if (reply->is_error()) return refused("Redis", reply->text);
            }
        }
        return {};
    }
    int descriptor() const override { return input_.descriptor(); }

private:
    Input input_;
    RespReader replies_;
    std::string output_;
};

class RedisReader final : public RivalReader {
public:
    explicit RedisReader(BareSocket socket) : input_(std::move(socket)) {}

    Result<> prepare(std::uint32_t partitions) override {
        for (std::uint32_t i = 0; i < partitions; ++i) last_[stream_of(i)] = "0";
        return {};
    }
    Result<std::vector<std::string>> read() override {
        checkpoint::RespCommand command{
            "XREAD", "COUNT", "1000", "BLOCK", std::to_string(moment_ms), "STREAMS"};
        for (const auto& [stream, id] : last_) command.push_back(stream);
        for (const auto& [stream, id] : last_) command.push_back(id);
        std::string output;
        checkpoint::append_command(output, command);
        EK_TRY(input_.write(output));
        while (true) {
            EK_TRY_ASSIGN(const auto reply, replies_.next());
            if (reply) return bodies_of(*reply);
            EK_TRY_ASSIGN(const auto bytes, input_.read());
            replies_.receive(bytes);
        }
    }

private:
    // [[stream, [[id, [field, body]], ...]], ...]; null if nothing came.
    Result<std::vector<std::string>> bodies_of(const RespValue& reply) {
        if (reply.is_error()) return refused("Redis", reply.text);
        std::vector<std::string> bodies;
        for (const RespValue& stream : reply.list) {
            if (stream.list.size() != 2) return refused("Redis", "a stream without entries");
            for (const RespValue& entry : stream.list[1].list) {
                if (entry.list.size() != 2 || entry.list[1].list.size() != 2) {
                    return refused("Redis", "an entry without a body");
                }
                last_[stream.list[0].text] = entry.list[0].text;
                bodies.push_back(entry.list[1].list[1].text);
            }
        }
        return bodies;
    }

    Input input_;
    RespReader replies_;
    std::map<std::string, std::string> last_;  // by stream, the id of the last entry
};

void append_number(std::string& to, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift & 0xff);
}

// The messages of PostgreSQL's protocol 3: a letter, a length, and what belongs to it.
class PostgresWire {
public:
    struct Message {
        char kind = 0;
        std::string text;
    };

    explicit PostgresWire(BareSocket socket) : input_(std::move(socket)) {}

    Result<> start() {
        std::string hello;
        append_number(hello, 196608);
        for (const char* word : {"user", "evenkeel", "database", "postgres", ""}) {
            hello.append(word) += '\0';
        }
        std::string sized;
        append_number(sized, static_cast<std::uint32_t>(hello.size() + 4));
        EK_TRY(input_.write(sized + hello));
        return until_ready();
    }
    Result<> query(std::string_view text) {
        std::string message = "Q";
        append_number(message, static_cast<std::uint32_t>(text.size() + 5));
        message.append(text) += '\0';
        return input_.write(message);
    }
    Result<> run(std::string_view text) {
        EK_TRY(query(text));
        return until_ready();
    }
    // None if more has to come. An error of the server is one of ours.
    Result<std::optional<Message>> next() {
        constexpr std::size_t head = 5;
        if (read_.size() - at_ < head) return std::optional<Message>();
        std::uint32_t size = 0;
        for (std::size_t i = 1; i < head; ++i) {
            size = size << 8 | static_cast<unsigned char>(read_[at_ + i]);
        }
        if (size < 4) return refused("PostgreSQL", "a message that is too short");
        if (read_.size() - at_ < size + 1) return std::optional<Message>();
        Message message{read_[at_], read_.substr(at_ + head, size - 4)};
        at_ += size + 1;
        if (at_ == read_.size()) {
            read_.clear();
            at_ = 0;
        }
        if (message.kind == 'E') return refused("PostgreSQL", shown_error(message.text));
        return std::optional<Message>(std::move(message));
    }
    Result<> fill() {
        EK_TRY_ASSIGN(const auto bytes, input_.read());
        read_.append(bytes);
        return {};
    }
    Result<> until_ready() {
        while (true) {
            EK_TRY_ASSIGN(const auto message, next());
            if (message && message->kind == 'Z') return {};
            if (!message) EK_TRY(fill());
        }
    }
    int descriptor() const { return input_.descriptor(); }

private:
    // Fields of one letter and a text, each with a zero behind it; M is the message.
    static std::string shown_error(std::string_view fields) {
        while (!fields.empty() && fields[0] != '\0') {
            const std::size_t end = fields.find('\0');
            if (fields[0] == 'M') return std::string(fields.substr(1, end - 1));
            if (end == std::string_view::npos) break;
            fields.remove_prefix(end + 1);
        }
        return "an error";
    }

    Input input_;
    std::string read_;
    std::size_t at_ = 0;
};

class PostgresWriter final : public RivalWriter {
public:
    explicit PostgresWriter(PostgresWire wire) : wire_(std::move(wire)) {}

    Result<> prepare(std::uint32_t partitions) override {
        EK_TRY(
            wire_.run("CREATE TABLE e (p int, seq bigserial, body text) PARTITION BY LIST (p);"
                      "CREATE INDEX ON e (seq)"));
        for (std::uint32_t i = 0; i < partitions; ++i) {
            EK_TRY(
                wire_.run(fmt::format("CREATE TABLE e{} PARTITION OF e FOR VALUES IN ({})", i, i)));
        }
        return {};
    }
    // One transaction at a time, with all that has become due meanwhile: a commit for each event
    // would be one sync for each.
    void add(std::uint32_t partition, std::string_view body) override {
        rows_ += fmt::format("{}({},'{}')", rows_.empty() ? "" : ",", partition, body);
        partitions_.insert(partition);
    }
    Result<> send() override {
        if (is_under_way_ || rows_.empty()) return {};
        std::string named;
        for (const std::uint32_t each : partitions_) {
            named += fmt::format("{}{}", named.empty() ? "" : ",", each);
        }
        EK_TRY(wire_.query(
            fmt::format("INSERT INTO e (p, body) VALUES {};NOTIFY e, '{}'", rows_, named)));
        rows_.clear();
        partitions_.clear();
        is_under_way_ = true;
        return {};
    }
    Result<> take_answers() override {
        while (has_input(wire_.descriptor(), 0)) EK_TRY(wire_.fill());
        while (true) {
            EK_TRY_ASSIGN(const auto message, wire_.next());
            if (!message) return send();
            if (message->kind == 'Z') is_under_way_ = false;
        }
    }
    int descriptor() const override { return wire_.descriptor(); }

private:
    PostgresWire wire_;
    std::string rows_;
    std::set<std::uint32_t> partitions_;
    bool is_under_way_ = false;
};

// Looks at the partitions that a notification names. One writer's numbers rise with its commits.
class PostgresReader final : public RivalReader {
public:
    explicit PostgresReader(PostgresWire wire) : wire_(std::move(wire)) {}

    Result<> prepare(std::uint32_t) override { return wire_.run("LISTEN e"); }
    Result<std::vector<std::string>> read() override {
        std::vector<std::string> bodies;
        if (named_.empty()) {
            if (!has_input(wire_.descriptor(), moment_ms)) return bodies;
            EK_TRY(wire_.fill());
            while (true) {
                EK_TRY_ASSIGN(const auto message, wire_.next());
                if (!message) break;
                take_notice(*message);
            }
            if (named_.empty()) return bodies;
        }
        std::string listed;
        for (const std::uint32_t each : std::exchange(named_, {})) {
            listed += fmt::format("{}{}", listed.empty() ? "" : ",", each);
        }
        EK_TRY(wire_.query(fmt::format(
            "SELECT seq, body FROM e WHERE p IN ({}) AND seq > {} ORDER BY seq", listed, last_)));
        while (true) {
            EK_TRY_ASSIGN(const auto message, wire_.next());
            if (!message) {
                EK_TRY(wire_.fill());
                continue;
            }
            if (message->kind == 'Z') return bodies;
            take_notice(*message);
            if (message->kind == 'D') EK_TRY(take_row(message->text, bodies));
        }
    }

private:
    // The process, the channel, and the text of NOTIFY.
    void take_notice(const PostgresWire::Message& message) {
        if (message.kind != 'A' || message.text.size() < 4) return;
        const std::size_t channel_end = message.text.find('\0', 4);
        if (channel_end == std::string::npos) return;
        std::istringstream numbers(message.text.substr(channel_end + 1));
        char comma = 0;
        for (std::uint32_t partition = 0; numbers >> partition; numbers >> comma) {
            named_.insert(partition);
        }
    }
    // How many fields, then each with its size.
    Result<> take_row(std::string_view row, std::vector<std::string>& bodies) {
        std::array<std::string, 2> fields;
        row.remove_prefix(std::min<std::size_t>(2, row.size()));
        for (std::string& field : fields) {
            if (row.size() < 4) return refused("PostgreSQL", "a row that is too short");
            std::uint32_t size = 0;
            for (std::size_t i = 0; i < 4; ++i)
                size = size << 8 | static_cast<unsigned char>(row[i]);
            row.remove_prefix(4);
            if (row.size() < size) return refused("PostgreSQL", "a row that is too short");
            field = row.substr(0, size);
            row.remove_prefix(size);
        }
        last_ = std::move(fields[0]);
        bodies.push_back(std::move(fields[1]));
        return {};
    }

    PostgresWire wire_;
    std::string last_ = "0";         // the number of the last row
    std::set<std::uint32_t> named_;  // by notifications that are not looked after yet
};

Result<PostgresWire> postgres_wire(std::uint16_t port) {
    EK_TRY_ASSIGN(auto socket, BareSocket::connect(port));
    PostgresWire wire(std::move(socket));
    EK_TRY(wire.start());
    return wire;
}

}  // namespace

Result<std::unique_ptr<RivalWriter>> redis_writer(std::uint16_t port) {
    EK_TRY_ASSIGN(auto socket, BareSocket::connect(port));
    return std::unique_ptr<RivalWriter>(std::make_unique<RedisWriter>(std::move(socket)));
}

Result<std::unique_ptr<RivalReader>> redis_reader(std::uint16_t port) {
    EK_TRY_ASSIGN(auto socket, BareSocket::connect(port));
    return std::unique_ptr<RivalReader>(std::make_unique<RedisReader>(std::move(socket)));
}

Result<std::unique_ptr<RivalWriter>> postgres_writer(std::uint16_t port) {
    EK_TRY_ASSIGN(auto wire, postgres_wire(port));
    return std::unique_ptr<RivalWriter>(std::make_unique<PostgresWriter>(std::move(wire)));
}

Result<std::unique_ptr<RivalReader>> postgres_reader(std::uint16_t port) {
    EK_TRY_ASSIGN(auto wire, postgres_wire(port));
    return std::unique_ptr<RivalReader>(std::make_unique<PostgresReader>(std::move(wire)));
}

}  // namespace evenkeel::bench
