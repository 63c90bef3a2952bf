// A hub with its door on a simulated network in virtual time, and clients that are made of the AMQP
// engine and nothing else, so that tests say exactly what goes over the wire.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "amqp/connection.h"
#include "amqp/message.h"
#include "base/metrics.h"
#include "door/door.h"
#include "eventhubs/sas.h"
#include "io/sim/disk.h"
#include "io/sim/network.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::door {

using namespace std::chrono_literals;
using amqp::Buffer;
using amqp::Encoder;

using eventhubs::make_sas;

inline const Secret root_key("root key, as it is written=");
inline const Secret other_key("another key");
inline const std::string reading_address = "eh1/ConsumerGroups/$Default/Partitions/0";

inline void append_section(Buffer& to, std::uint64_t kind, const Buffer& value) {
    Encoder(to).descriptor(static_cast<std::uint8_t>(kind));
    Encoder(to).bytes(value);
}

template <typename Write>
Buffer encoded(Write write) {
    Buffer bytes;
    Encoder encoder(bytes);
    write(encoder);
    return bytes;
}

// A map with symbol keys; each value is encoded already.
inline Buffer a_map(const std::vector<std::pair<std::string, Buffer>>& pairs, bool symbols = true) {
    return encoded([&](Encoder& encoder) {
        const auto map = encoder.begin_map();
        for (const auto& [key, value] : pairs) {
            symbols ? encoder.symbol(key) : encoder.string(key);
            encoder.bytes(value);
        }
        encoder.end(map, static_cast<std::uint32_t>(2 * pairs.size()));
    });
}
inline Buffer a_string(std::string_view text) {
    return encoded([&](Encoder& encoder) { encoder.string(text); });
}
inline Buffer a_long(std::int64_t value) {
    return encoded([&](Encoder& encoder) { encoder.long_(value); });
}
inline Buffer a_data(std::string_view text) {
    Buffer bytes;
    append_section(bytes, amqp::descriptor::data,
                   encoded([&](Encoder& encoder) { encoder.binary(as_bytes(text)); }));
    return bytes;
}
inline Buffer a_batch(const std::vector<Buffer>& events, std::string_view key = {}) {
    Buffer bytes;
    if (!key.empty()) {
        append_section(bytes, amqp::descriptor::message_annotations,
                       a_map({{"x-opt-partition-key", a_string(key)}}));
    }
    for (const auto& event : events) {
        append_section(bytes, amqp::descriptor::data,
                       encoded([&](Encoder& encoder) { encoder.binary(event); }));
    }
    return bytes;
}
// A selector with one of the descriptors that clients use.
inline Buffer a_filter(std::string_view expression, int descriptor = 0) {
    return a_map({{"apache.org:selector-filter:string", encoded([&](Encoder& encoder) {
                       encoder.bytes(as_bytes(std::string_view("\0", 1)));
                       if (descriptor == 0) encoder.ulong(0x0000468C00000004);
                       if (descriptor == 1) encoder.symbol("apache.org:selector-filter:string");
                       if (descriptor == 2) encoder.ulong(0x000000137000000A);
                       encoder.string(expression);
                   })}});
}

struct Message {
    Buffer bytes;
    std::uint32_t format = 0;
    bool settled = false;

    ByteView section(std::uint64_t kind) const {
        ByteView rest = bytes;
        while (!rest.empty()) {
            const auto found = amqp::next_section(rest);
            if (!found.ok()) return {};
            if (found->kind == kind) return found->value;
        }
        return {};
    }
    std::string text() const {
        const ByteView value = section(amqp::descriptor::data);
        return std::string(as_text(amqp::Decoder(value).binary().value_or(ByteView())));
    }
    std::int64_t number(std::string_view annotation) const {
        return amqp::integer_in(section(amqp::descriptor::message_annotations), annotation)
            .value_or(-99);
    }
    std::string annotation(std::string_view name) const {
        return std::string(
            amqp::text_in(section(amqp::descriptor::message_annotations), name).value_or("none"));
    }
};

// What a client knows of one of its links; lives on when the link has ended.
struct ClientLink {
    amqp::Link* link = nullptr;
    amqp::Attach answer;
    bool attached = false;
    bool detached = false;
    amqp::Condition error;
    std::vector<Message> messages;

    bool is_open() const { return attached && !detached; }
    std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const auto& message : messages) all.push_back(message.text());
        return all;
    }
};
using ClientLinkRef = std::shared_ptr<ClientLink>;

struct LinkWish {
    std::string name = {};
    Buffer filter = {};
    Buffer properties = {};
    std::vector<std::string> desired = {};
    std::uint64_t max_message_bytes = 0;
    std::uint32_t credit = 1000;  // a receiver's
    std::string other_end = "client";
};

struct Reply {
    std::int64_t code = 0;
    std::string description;
    std::string condition;
    Message message;
};

class Client final : public amqp::Handler {
public:
    Client(io::sim::Scheduler& scheduler, io::Loop& loop, io::Network& network,
           amqp::ConnectionOptions options = {})
        : scheduler_(scheduler), loop_(loop) {
        options.is_server = false;
        options.container = "client";
        options.hostname = "hub";
        connection.emplace(std::move(options), *this, loop.clock().now());
        network.connect({"hub", 5672}, 10s, [this](Result<std::unique_ptr<io::Socket>> result) {
            EXPECT_TRUE(result.ok());
            if (!result.ok()) return;
            socket = std::move(*result);
            read();
            flush();
        });
    }

    bool wait(Callback<bool()> condition, Duration at_most = 60s) {
        return scheduler_.run_until(std::move(condition), at_most);
    }
    void run_for(Duration duration) { scheduler_.run_for(duration); }
    bool open() {
        return wait([this] { return opened || closed; }) && opened;
    }

    amqp::Session& session() {
        if (!session_) session_ = &connection->begin();
        return *session_;
    }
    ClientLinkRef start_attach(amqp::Role role, std::string_view address, const LinkWish& wish,
                               amqp::Session* on = nullptr) {
        amqp::Attach attach;
        const std::string fallback = "link-" + std::to_string(++link_count_);
        attach.name = wish.name.empty() ? fallback : wish.name;
        attach.role = role;
        const bool sends = role == amqp::Role::sender;
        attach.source = amqp::terminus(amqp::descriptor::source, sends ? wish.other_end : address);
        attach.target = amqp::terminus(amqp::descriptor::target, sends ? address : wish.other_end);
        if (!wish.filter.empty()) attach.source = filtered_source(address, wish.filter);
        attach.properties = wish.properties;
        attach.desired_capabilities = wish.desired;
        attach.max_message_bytes = wish.max_message_bytes;
        auto known = std::make_shared<ClientLink>();
        known->link = &connection->attach(on ? *on : session(), std::move(attach));
        links_[known->link] = known;
        flush();
        return known;
    }
    ClientLinkRef attach(amqp::Role role, std::string_view address, const LinkWish& wish,
                         amqp::Session* on = nullptr) {
        const auto known = start_attach(role, address, wish, on);
        EXPECT_TRUE(wait([&] { return known->attached || closed; }));
        run_for(10ms);  // a refusal's detach comes right behind
        if (role == amqp::Role::receiver && known->is_open() && wish.credit > 0) {
            known->link->grant(wish.credit);
            flush();
        }
        return known;
    }
    ClientLinkRef sender(std::string_view address, const LinkWish& wish = {}) {
        return attach(amqp::Role::sender, address, wish);
    }
    ClientLinkRef receiver(std::string_view address, const LinkWish& wish = {}) {
        return attach(amqp::Role::receiver, address, wish);
    }

    std::uint32_t start_send(const ClientLinkRef& link, const Buffer& message,
                             std::uint32_t format = 0, bool settled = false) {
        EXPECT_TRUE(wait([&] { return link->detached || link->link->can_send(); }));
        const auto id = link->link->send({}, message, format, settled);
        flush();
        return id;
    }
    amqp::DeliveryState send(const ClientLinkRef& link, const Buffer& message,
                             std::uint32_t format = 0) {
        const auto id = start_send(link, message, format);
        EXPECT_TRUE(wait([&] { return outcomes.contains(id) || link->detached || closed; }));
        return outcomes.contains(id) ? outcomes[id] : amqp::DeliveryState{};
    }
    // "" if it was accepted, otherwise the condition.
    std::string outcome(const ClientLinkRef& link, const Buffer& message,
                        std::uint32_t format = 0) {
        const auto state = send(link, message, format);
        if (state.kind == amqp::DeliveryState::Kind::accepted) return "";
        return state.error ? state.error->name : "no outcome";
    }

    // Requests to $cbs or $management, over a pair of links that is made when first needed.
    Reply request(const std::string& node, const Buffer& properties, std::string_view body = {},
                  Buffer message_id = a_string("request 1")) {
        ClientLinkRef& to = nodes_[node].first;
        ClientLinkRef& from = nodes_[node].second;
        if (!to || to->detached) to = sender(node);
        if (!from || from->detached) from = receiver(node);
        const std::size_t before = from->messages.size();
        send(to, request_message(properties, body, std::move(message_id)));
        EXPECT_TRUE(wait([&] { return from->messages.size() > before || closed; }));
        return from->messages.size() > before ? reply_of(from->messages.back()) : Reply{};
    }
    static Buffer request_message(const Buffer& properties, std::string_view body,
                                  Buffer message_id = a_string("request 1"),
                                  std::string_view reply_to = {}) {
        Buffer message;
        append_section(message, amqp::descriptor::properties, encoded([&](Encoder& encoder) {
                           const auto list = encoder.begin_list();
                           encoder.bytes(message_id);
                           for (int i = 0; i < 3; ++i) encoder.null();
                           reply_to.empty() ? encoder.null() : encoder.string(reply_to);
                           encoder.end(list, 5);
                       }));
        append_section(message, amqp::descriptor::application_properties, properties);
        append_section(message, amqp::descriptor::value, a_string(body));
        return message;
    }
    static Reply reply_of(const Message& message) {
        const ByteView properties = message.section(amqp::descriptor::application_properties);
        return {amqp::integer_in(properties, "status-code").value_or(-1),
                std::string(amqp::text_in(properties, "status-description").value_or("")),
                std::string(amqp::text_in(properties, "error-condition").value_or("")), message};
    }
    // Without waiting for the answer, which may be a close.
    void start_token(std::string_view token, std::string_view audience) {
        ClientLinkRef& to = nodes_["$cbs"].first;
        if (!to || to->detached) to = sender("$cbs");
        start_send(to, request_message(a_map({{"operation", a_string("put-token")},
                                              {"type", a_string("servicebus.windows.net:sastoken")},
                                              {"name", a_string(audience)}},
                                             false),
                                       token));
    }
    Reply put_token(std::string_view token, std::string_view audience,
                    std::string_view type = "servicebus.windows.net:sastoken") {
        return request("$cbs",
                       a_map({{"operation", a_string("put-token")},
                              {"type", a_string(type)},
                              {"name", a_string(audience)}},
                             false),
                       token);
    }
    // A token of the root rule for everything.
    void authorize(std::chrono::milliseconds life = 1h) {
        const auto reply = put_token(
            make_sas("sb://hub/", "root", root_key, loop_.clock().wall() + life), "sb://hub/");
        EXPECT_EQ(reply.code, 202) << reply.description;
    }

    void flush() {
        if (writing_ || !socket || connection->output_bytes() == 0) return;
        connection->take_output(sending_);
        writing_ = true;
        socket->write(sending_, [this](const Result<>&) {
            writing_ = false;
            flush();
        });
    }
    // After a time without reading.
    void read_on() {
        reads = true;
        read();
    }
    // Raw bytes instead of the engine's.
    void write_raw(std::string_view bytes) {
        sending_.assign(as_bytes(bytes).begin(), as_bytes(bytes).end());
        writing_ = true;
        socket->write(sending_, [this](const Result<>&) { writing_ = false; });
    }

    bool on_sasl(const amqp::SaslInit&) override { return false; }
    void on_open(const amqp::Open&) override { opened = true; }
    void on_attach(amqp::Link&) override {}
    void on_attached(amqp::Link& link) override {
        if (!links_.contains(&link)) return;
        auto& known = *links_[&link];
        known.attached = true;
        known.answer = link.peer();
    }
    void on_delivery(amqp::Link& link, const amqp::Delivery& delivery) override {
        if (!links_.contains(&link)) return;
        links_[&link]->messages.push_back({Buffer(delivery.bytes.begin(), delivery.bytes.end()),
                                           delivery.message_format, delivery.settled});
    }
    void on_credit(amqp::Link&) override {}
    void on_disposition(amqp::Link&, const amqp::Disposition& disposition) override {
        for (std::uint32_t id = disposition.first; id <= disposition.last.value_or(id); ++id) {
            outcomes[id] = disposition.state;
            if (!disposition.last) break;
        }
    }
    void on_detach(amqp::Link& link, const std::optional<amqp::Condition>& error) override {
        const auto found = links_.find(&link);
        if (found == links_.end()) return;
        found->second->detached = true;
        found->second->error = error.value_or(amqp::Condition{});
        found->second->link = nullptr;  // the engine frees it
        links_.erase(found);
    }
    void on_closed(const std::optional<amqp::Condition>& error) override {
        closed = true;
        close_error = error.value_or(amqp::Condition{});
    }

    std::optional<amqp::Connection> connection;
    std::unique_ptr<io::Socket> socket;
    bool opened = false;
    bool closed = false;
    bool reads = true;  // false: what comes is left in the socket
    amqp::Condition close_error;
    std::map<std::uint32_t, amqp::DeliveryState> outcomes;

private:
    static amqp::Terminus filtered_source(std::string_view address, const Buffer& filter) {
        amqp::Terminus source;
        source.present = true;
        source.address = address;
        append_section(source.encoded, amqp::descriptor::source, encoded([&](Encoder& encoder) {
                           const auto list = encoder.begin_list();
                           encoder.string(address);
                           for (int i = 0; i < 6; ++i) encoder.null();
                           encoder.bytes(filter);
                           encoder.end(list, 8);
                       }));
        return source;
    }
    void read() {
        if (!reads) return;
        socket->read(input_, [this](Result<std::size_t> got) {
            if (!got.ok() || *got == 0) {
                connection->lost();
                ended = true;
                return;
            }
            connection->receive(ByteView(input_).first(*got), loop_.clock().now());
            flush();
            read();
        });
    }

public:
    bool ended = false;  // the socket

private:
    io::sim::Scheduler& scheduler_;
    io::Loop& loop_;
    amqp::Session* session_ = nullptr;
    std::map<amqp::Link*, ClientLinkRef> links_;
    std::map<std::string, std::pair<ClientLinkRef, ClientLinkRef>> nodes_;
    std::vector<std::byte> input_ = std::vector<std::byte>(65536);
    Buffer sending_;
    bool writing_ = false;
    int link_count_ = 0;
};

class DoorFixture {
public:
    explicit DoorFixture(DoorOptions options = {}, std::vector<Rule> rules = {},
                         std::uint64_t seed = test::test_seed())
        : scheduler(seed), options_(std::move(options)), rules_(std::move(rules)) {
        rules_.push_back({"root", "", root_key, {}, {true, true, true}});
        start();
        create("eh1", 4);
    }
    ~DoorFixture() {
        clients.clear();
        loop.discard();
        disk_0.discard();
        metadata.discard();
        reads.discard();
        door.reset();
        hubs.reset();
    }
    DoorFixture(const DoorFixture&) = delete;
    DoorFixture& operator=(const DoorFixture&) = delete;

    // The hub ends and starts again on the same disk; clients that were there are gone.
    void restart() {
        for (auto& each : clients) each->socket->close();
        bool closed = false;
        door->stop([&] { hubs->close([&] { closed = true; }); });
        EXPECT_TRUE(scheduler.run_until([&] { return closed; }, 60s));
        scheduler.run_for(1s);  // lets the last tasks end
        clients.clear();
        door.reset();
        hubs.reset();
        start();
    }
    void create(std::string_view name, std::uint32_t partitions) {
        EventHubOptions options;
        options.partitions = partitions;
        wait([&](hub::Namespace::Done done) { hubs->create(name, options, std::move(done)); });
    }
    template <typename Start>
    void wait(Start start) {
        std::optional<Result<>> answer;
        start([&](Result<> result) { answer = std::move(result); });
        EXPECT_TRUE(scheduler.run_until([&] { return answer.has_value(); }, 60s));
        EXPECT_TRUE(answer && answer->ok());
    }
    // Connected and open, without a token.
    Client& stranger(amqp::ConnectionOptions options = {}) {
        clients.push_back(std::make_unique<Client>(
            scheduler, client_loop, network.host("client", client_loop), std::move(options)));
        EXPECT_TRUE(clients.back()->open());
        return *clients.back();
    }
    Client& client() {
        Client& made = stranger();
        made.authorize();
        return made;
    }
    WallTime now() const { return loop.clock().wall(); }
    std::size_t stored(std::string_view name, std::uint32_t partition) {
        const auto log = (*(*hubs->find(name))->partition({partition}))->log();
        return static_cast<std::size_t>((*log)->properties().last_sequence.value + 1);
    }

    io::sim::Scheduler scheduler;
    io::sim::SimLoop loop{scheduler, "hub"};
    io::sim::SimLoop client_loop{scheduler, "client"};
    io::sim::SimExecutor disk_0{scheduler, "disk/0"};
    io::sim::SimExecutor metadata{scheduler, "meta/0"};
    io::sim::SimExecutor reads{scheduler, "read/0"};
    io::sim::SimNetwork network{scheduler};
    io::sim::Disk disk;
    Metrics metrics;
    commitlog::LogMetrics log_metrics{metrics};
    std::unique_ptr<hub::Namespace> hubs;
    std::optional<Door> door;
    std::vector<std::unique_ptr<Client>> clients;

private:
    void start() {
        HubOptions hub_options;
        hub_options.directory = "data";
        auto opened =
            hub::Namespace::open({disk, loop, {&disk_0}, metadata, log_metrics}, hub_options);
        ASSERT_TRUE(opened.ok());
        hubs = std::move(*opened);
        door.emplace(loop, reads, network.host("hub", loop), *hubs, AccessRules(rules_), options_);
        ASSERT_TRUE(door->listen({"hub", 5672}).ok());
    }

    const DoorOptions options_;
    std::vector<Rule> rules_;
};

}  // namespace evenkeel::door
