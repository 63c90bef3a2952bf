// What a client writes that breaks the rules of AMQP: frames that are mostly in order, so that they
// get somewhere, and every now and then out of order, on a wrong channel, for a wrong handle,
// twice, with wrong types or extreme numbers, cut, changed or followed by noise.
#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.h"
#include "door/door_fixture.h"

namespace evenkeel::door {

inline const Secret guest_key("a guest's key");

class HostileScript {
public:
    // `now` is the hub's time, for tokens.
    HostileScript(Random random, WallTime now) : random_(random), now_(now) {
        static constexpr std::uint64_t cares[] = {1, 10, 100, 1000};
        care_ = cares[random_.below(std::size(cares))];
    }

    // All that the client will ever write.
    Buffer write() {
        greet();
        random_.chance(9, 10) ? log_in() : rarely() ? void() : begin();
        for (std::uint64_t left = random_.below(60); left > 0; --left) act();
        if (random_.chance(1, 8)) spoil();
        return std::move(bytes_);
    }

private:
    struct End {  // of a link, as the client sees it
        std::uint32_t handle;
        bool sends;
    };
    struct Channel {
        std::uint16_t number;
        std::uint32_t next_delivery = 0;
        std::vector<End> links = {};
    };

    // What ends the connection at once: often for some clients, hardly ever for others, which get
    // further.
    bool fault(std::uint64_t in) { return random_.chance(1, in * care_); }
    bool rarely() { return fault(30); }
    std::uint64_t extreme() {
        static constexpr std::uint64_t numbers[] = {0,
                                                    1,
                                                    2,
                                                    127,
                                                    128,
                                                    255,
                                                    256,
                                                    65535,
                                                    65536,
                                                    0x7fffffff,
                                                    0x80000000,
                                                    0xfffffffe,
                                                    0xffffffff,
                                                    0x80000001,
                                                    1ULL << 32,
                                                    1ULL << 63,
                                                    (1ULL << 63) - 1,
                                                    ~0ULL};
        return random_.chance(1, 5) ? random_.next() : numbers[random_.below(std::size(numbers))];
    }

    // A value of any type, some of them malformed.
    Buffer any_value(int depth = 0) {
        return encoded([&](Encoder& encoder) {
            switch (random_.below(depth < 3 ? 15 : 11)) {
                case 0: return encoder.null();
                case 1: return encoder.boolean(random_.chance(1, 2));
                case 2: return encoder.ubyte(static_cast<std::uint8_t>(extreme()));
                case 3: return encoder.ushort(static_cast<std::uint16_t>(extreme()));
                case 4: return encoder.uint(static_cast<std::uint32_t>(extreme()));
                case 5: return encoder.ulong(extreme());
                case 6: return encoder.int_(static_cast<std::int32_t>(extreme()));
                case 7: return encoder.long_(static_cast<std::int64_t>(extreme()));
                case 8: return encoder.string(std::string(random_.below(40), '\xff'));
                case 9: return encoder.symbol("x-opt-offset");
                case 10: return encoder.bytes(noise(1 + random_.below(12)));
                case 11:
                case 12: {
                    const bool is_map = random_.chance(1, 2);
                    const auto open = is_map ? encoder.begin_map() : encoder.begin_list();
                    const auto count = random_.below(5);
                    for (std::uint64_t i = 0; i < count; ++i) encoder.bytes(any_value(depth + 1));
                    return encoder.end(open,
                                       static_cast<std::uint32_t>(rarely() ? extreme() : count));
                }
                case 13:
                    encoder.descriptor(static_cast<std::uint8_t>(random_.below(256)));
                    return encoder.bytes(any_value(depth + 1));
                default: return encoder.symbols({"a", "b", std::string(random_.below(300), 'c')});
            }
        });
    }
    Buffer noise(std::size_t size) {
        Buffer bytes(size);
        random_.fill(bytes);
        return bytes;
    }

    // The values of fields; now and then of another type.
    template <typename Write>
    Buffer field(Write write) {
        return fault(150) ? any_value() : encoded(write);
    }
    Buffer null() {
        return field([](Encoder& encoder) { encoder.null(); });
    }
    Buffer flag(bool value) {
        return field([&](Encoder& encoder) { encoder.boolean(value); });
    }
    Buffer number(std::uint64_t usual) {
        const auto value = static_cast<std::uint32_t>(rarely() ? extreme() : usual);
        return field([&](Encoder& encoder) { encoder.uint(value); });
    }
    Buffer maybe_number(std::uint64_t usual) {
        return random_.chance(1, 4) ? null() : number(usual);
    }
    Buffer maybe_size() {
        if (random_.chance(1, 2)) return null();
        const std::uint64_t value = random_.chance(1, 2) ? 1 << 20 : extreme();
        return field([&](Encoder& encoder) { encoder.ulong(value); });
    }
    Buffer text(std::string_view value) {
        return field([&](Encoder& encoder) { encoder.string(value); });
    }
    Buffer symbols(const std::vector<std::string>& values) {
        return field([&](Encoder& encoder) { encoder.symbols(values); });
    }

    static Buffer described(std::uint64_t kind, const std::vector<Buffer>& fields,
                            std::uint32_t count) {
        Buffer bytes;
        append_section(bytes, kind, encoded([&](Encoder& encoder) {
                           const auto list = encoder.begin_list();
                           for (const Buffer& each : fields) encoder.bytes(each);
                           encoder.end(list, count);
                       }));
        return bytes;
    }
    Buffer described(std::uint64_t kind, std::vector<Buffer> fields) {
        if (fault(60)) fields.resize(random_.below(fields.size() + 1));
        if (fault(100)) fields.push_back(any_value());
        auto count = static_cast<std::uint32_t>(fields.size());
        if (fault(300)) count = static_cast<std::uint32_t>(extreme());
        return described(kind, fields, count);
    }

    void append(ByteView bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
    void append_number(std::uint64_t value, int bytes) {
        for (int i = bytes - 1; i >= 0; --i) {
            bytes_.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
        }
    }
    void frame(std::uint64_t channel, ByteView body, ByteView payload = {}, std::uint8_t type = 0) {
        const bool odd = fault(400);
        append_number(odd ? extreme() : 8 + body.size() + payload.size(), 4);
        append_number(fault(400) ? extreme() : 2, 1);
        append_number(fault(400) ? extreme() : type, 1);
        append_number(rarely() ? extreme() : channel, 2);
        append(body);
        append(payload);
    }
    void header(char protocol) {
        append(as_bytes(std::string{'A', 'M', 'Q', 'P', protocol, 1, 0, 0}));
    }

    void greet() {
        if (rarely()) return;
        if (random_.chance(9, 10)) {
            header(3);
            const bool by_key = random_.chance(1, 4);
            std::string response = std::string("\0guest\0", 7) + std::string(guest_key.reveal());
            if (rarely()) response = "wrong";
            frame(0,
                  described(amqp::descriptor::sasl_init,
                            {field([&](Encoder& encoder) {
                                 encoder.symbol(by_key ? "PLAIN" : "ANONYMOUS");
                             }),
                             field([&](Encoder& encoder) { encoder.binary(as_bytes(response)); }),
                             text("hub")}),
                  {}, 1);
        }
        header(0);
        if (!rarely()) open();
    }
    void open() {
        frame(0, described(amqp::descriptor::open,
                           {text("hostile"), text("hub"), maybe_number(65536), null(),
                            maybe_number(random_.chance(1, 8) ? 300 : 60'000)}));
    }
    void log_in() {
        begin();
        attach("$cbs", true);
        attach("$cbs", false);
        flow();
        send(channels_.back(), 0, token_request());
    }

    void begin() {
        const auto number = static_cast<std::uint16_t>(channels_.size());
        channels_.push_back({rarely() ? static_cast<std::uint16_t>(extreme()) : number});
        frame(channels_.back().number,
              described(amqp::descriptor::begin,
                        {null(), this->number(0), this->number(2048), this->number(2048), null()}));
    }
    Channel& a_channel() {
        if (channels_.empty()) channels_.push_back({0});
        return channels_[random_.below(channels_.size())];
    }
    std::uint32_t a_handle(const Channel& channel) {
        if (channel.links.empty() || rarely()) return static_cast<std::uint32_t>(extreme());
        return channel.links[random_.below(channel.links.size())].handle;
    }
    // Of the last that sends, or of another.
    std::uint32_t a_sender(const Channel& channel) {
        for (auto link = channel.links.rbegin(); link != channel.links.rend(); ++link) {
            if (link->sends && !random_.chance(1, 3) && !rarely()) return link->handle;
        }
        return rarely() ? a_handle(channel) : 0;  // 0 sends to $cbs, mostly
    }

    void attach(std::string_view address, bool sends) {
        Channel& channel = a_channel();
        auto handle = static_cast<std::uint32_t>(channel.links.size());
        if (rarely()) handle = static_cast<std::uint32_t>(extreme());
        channel.links.push_back({handle, sends});
        const std::string name = "link " + std::to_string(random_.below(200));
        const Buffer far = described(sends ? amqp::descriptor::target : amqp::descriptor::source,
                                     {text(address), null(), null(), null(), null(), null(), null(),
                                      sends ? null() : filter()});
        const Buffer near =
            described(sends ? amqp::descriptor::source : amqp::descriptor::target, {text("here")});
        frame(channel.number, described(amqp::descriptor::attach,
                                        {text(name), number(handle), flag(!sends), null(), null(),
                                         sends ? near : far, sends ? far : near, null(), null(),
                                         sends ? number(0) : null(), maybe_size(), null(),
                                         capabilities(), properties()}));
        if (!sends && random_.chance(3, 4)) flow(channel, handle);
    }
    Buffer filter() {
        static const std::vector<std::string> expressions = {
            "amqp.annotation.x-opt-offset > '-1'",
            "amqp.annotation.x-opt-offset > '@latest'",
            "amqp.annotation.x-opt-sequence-number >= '-9223372036854775808'",
            "amqp.annotation.x-opt-sequence-number > '18446744073709551615'",
            "amqp.annotation.x-opt-enqueued-time > '9223372036854775807'",
            "amqp.annotation.x-opt-offset > ''",
            "OR 1 = 1"};
        if (random_.chance(1, 4)) return null();
        if (rarely()) return any_value();
        return a_filter(expressions[random_.below(random_.chance(1, 2) ? 1 : expressions.size())]);
    }
    Buffer capabilities() {
        switch (random_.below(6)) {
            case 0: return symbols({"com.microsoft:idempotent-producer"});
            case 1: return symbols({"com.microsoft:enable-receiver-runtime-metric"});
            case 2: return symbols({"evenkeel:report-damage", "", std::string(999, 'x')});
            default: return null();
        }
    }
    Buffer properties() {
        if (random_.chance(1, 2)) return null();
        const auto value = [&] {
            if (random_.chance(1, 4)) return any_value();
            return a_long(
                static_cast<std::int64_t>(random_.chance(1, 2) ? random_.below(3) : extreme()));
        };
        return a_map({{"com.microsoft:epoch", value()},
                      {"com.microsoft:receiver-name", a_string("reader")},
                      {"com.microsoft:producer-id", value()},
                      {"com.microsoft:producer-epoch", value()},
                      {"com.microsoft:producer-sequence-number", value()}});
    }

    void flow() {
        Channel& channel = a_channel();
        flow(channel, a_handle(channel));
    }
    void flow(const Channel& channel, std::uint32_t handle) {
        const bool of_link = random_.chance(5, 6);
        frame(channel.number,
              described(amqp::descriptor::flow,
                        {maybe_number(1), number(2048), number(channel.next_delivery), number(2048),
                         of_link ? number(handle) : null(), of_link ? maybe_number(0) : null(),
                         of_link ? number(random_.below(200)) : null(), maybe_number(0),
                         flag(random_.chance(1, 4)), flag(random_.chance(1, 4)), null()}));
    }

    Buffer token_request() {
        const bool good = random_.chance(9, 10);
        const std::string token = good ? make_sas("sb://hub/", "guest", guest_key, now_ + 1h)
                                       : "SharedAccessSignature sr=hub&sig=%zz&se=-1&skn=";
        return Client::request_message(a_map({{"operation", text("put-token")},
                                              {"type", text("servicebus.windows.net:sastoken")},
                                              {"name", text("sb://hub/")}},
                                             false),
                                       token, rarely() ? any_value() : a_string("id"),
                                       rarely() ? "$cbs" : "");
    }
    Buffer management_request() {
        static const std::vector<std::string> types = {"com.microsoft:eventhub",
                                                       "com.microsoft:partition", "nothing"};
        return Client::request_message(a_map({{"operation", text(rarely() ? "DELETE" : "READ")},
                                              {"type", text(types[random_.below(types.size())])},
                                              {"name", text(random_.chance(1, 2) ? "eh1" : "eh9")},
                                              {"partition", text(std::to_string(extreme()))},
                                              {"security_token", any_value()}},
                                             false),
                                       "", any_value());
    }
    Buffer message() {
        switch (random_.below(8)) {
            case 0: return token_request();
            case 1: return management_request();
            case 2: return noise(random_.below(200));
            case 3: return a_batch({a_data("a"), a_data("b"), noise(random_.below(9))}, "key");
            case 4: {
                Buffer odd;
                append_section(odd, amqp::descriptor::application_properties, any_value());
                append_section(odd, amqp::descriptor::message_annotations, properties());
                append_section(odd, amqp::descriptor::data, any_value());
                return odd;
            }
            case 5: return a_data(std::string(random_.below(40'000), 'x'));
            default: return a_data("hostile");
        }
    }

    struct Part {
        std::uint32_t handle;
        std::uint32_t delivery;
        bool more = false;
        bool aborted = false;
        bool later = false;  // not the first of its delivery
    };
    void transfer(const Channel& channel, const Part& part, ByteView payload) {
        const std::uint32_t format = random_.chance(1, 4) ? amqp::batch_format : 0;
        frame(channel.number,
              described(amqp::descriptor::transfer,
                        {number(part.handle),
                         part.later ? maybe_number(part.delivery) : number(part.delivery),
                         field([](Encoder& encoder) { encoder.binary(as_bytes("tag")); }),
                         maybe_number(format), random_.chance(1, 3) ? flag(true) : null(),
                         flag(part.more), null(), null(), null(), flag(part.aborted)}),
              payload);
    }
    // Whole, or in several frames of which some may be missing, doubled or the last.
    void send(Channel& channel, std::uint32_t handle, const Buffer& message) {
        Part part{handle, channel.next_delivery++};
        ByteView rest = message;
        while (rest.size() > 30'000 || (!rest.empty() && random_.chance(1, 4))) {
            const ByteView piece =
                rest.first(random_.below(std::min<std::size_t>(rest.size(), 30'000)));
            part.more = true;
            part.aborted = random_.chance(1, 12);
            transfer(channel, part, piece);
            part.later = true;
            rest = rest.subspan(piece.size());
            if (random_.chance(1, 12)) return;
            if (random_.chance(1, 12)) act();
        }
        part.more = rarely();
        part.aborted = random_.chance(1, 40);
        transfer(channel, part, rest);
    }
    void dispose() {
        Channel& channel = a_channel();
        static constexpr std::uint64_t states[] = {
            amqp::descriptor::received, amqp::descriptor::accepted, amqp::descriptor::rejected,
            amqp::descriptor::released, amqp::descriptor::modified, amqp::descriptor::open};
        frame(channel.number,
              described(amqp::descriptor::disposition,
                        {flag(random_.chance(3, 4)), number(random_.below(5)), maybe_number(5),
                         flag(random_.chance(1, 2)),
                         random_.chance(1, 4)
                             ? null()
                             : described(states[random_.below(std::size(states))], {null()}),
                         null()}));
    }
    Buffer maybe_error() {
        if (random_.chance(1, 2)) return null();
        return described(amqp::descriptor::error,
                         {field([](Encoder& encoder) { encoder.symbol("x:y"); }), text("why")});
    }
    void detach() {
        Channel& channel = a_channel();
        frame(channel.number,
              described(amqp::descriptor::detach,
                        {number(a_handle(channel)), flag(random_.chance(3, 4)), maybe_error()}));
    }

    void act() {
        static const std::vector<std::string> addresses = {
            "eh1", "eh1/Partitions/1", "eh1/ConsumerGroups/$Default/Partitions/1",
            "eh1/ConsumerGroups/$Default/Partitions/1", "$management", "eh2", "eh2/Partitions/0",
            "eh2/ConsumerGroups/$Default/Partitions/0", "$cbs",
            // from here on nonsense
            "eh1/Partitions/4294967296", "eh1/Partitions/-1", "nowhere", "", "///",
            "eh1/$management", "eh1/ConsumerGroups/none/Partitions/0",
            "eh1/ConsumerGroups/$Default/Partitions/99999"};
        switch (random_.below(24)) {
            case 0: return begin();
            case 1:
            case 2:
            case 3:
            case 4: {
                const std::string& address =
                    addresses[random_.below(rarely() ? addresses.size() : 9)];
                const bool reads = address.find("Groups") != std::string::npos;
                return attach(address,
                              address[0] == '$' || rarely() ? random_.chance(1, 2) : !reads);
            }
            case 5:
            case 6:
            case 7: return flow();
            case 8: return dispose();
            case 9: return detach();
            case 10: return random_.chance(1, 3) ? end() : void();
            case 11: return random_.chance(1, 10) ? close() : void();
            case 12: return random_.chance(1, 10) ? open() : void();
            case 13: return random_.chance(1, 10) ? greet() : void();
            case 14: return random_.chance(1, 5) ? frame(extreme(), {}) : void();
            case 15: return random_.chance(1, 10) ? frame(0, any_value(), any_value()) : void();
            case 16: return random_.chance(1, 10) ? frame(0, any_value(), {}, 1) : void();
            default: {
                Channel& channel = a_channel();
                return send(channel, a_sender(channel), message());
            }
        }
    }
    void end() { frame(a_channel().number, described(amqp::descriptor::end, {maybe_error()})); }
    void close() { frame(0, described(amqp::descriptor::close, {maybe_error()})); }

    // Bytes are changed, lost, doubled, swapped or come from nowhere.
    void spoil() {
        for (std::uint64_t left = 1 + random_.below(4); left > 0 && !bytes_.empty(); --left) {
            const auto at = static_cast<std::ptrdiff_t>(random_.below(bytes_.size()));
            const auto size = static_cast<std::ptrdiff_t>(random_.below(
                std::min<std::size_t>(bytes_.size() - static_cast<std::size_t>(at), 300)));
            const auto from = bytes_.begin() + at;
            switch (random_.below(5)) {
                case 0: *from = static_cast<std::byte>(random_.below(256)); break;
                case 1: bytes_.erase(from, from + size); break;
                case 2: {
                    const Buffer again(from, from + size);
                    bytes_.insert(from, again.begin(), again.end());
                    break;
                }
                case 3: {
                    const Buffer more = noise(random_.below(50));
                    bytes_.insert(from, more.begin(), more.end());
                    break;
                }
                default: std::reverse(from, from + size); break;
            }
        }
    }

    Random random_;
    const WallTime now_;
    std::uint64_t care_;
    Buffer bytes_;
    std::deque<Channel> channels_;  // references stay good
};

}  // namespace evenkeel::door
