// Blob storage for tests, in this process: as the service answers, where the emulator differs (an
// opaque marker, pages of few items, 404 for a condition on a blob that is not there), and with
// faults on demand. Signatures are not checked here but by the emulator
// (tests/process/store).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/percent.h"
#include "checkpoint/blob/request.h"
#include "http/server.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::checkpoint {

class BlobServer {
public:
    enum class Fault : unsigned char {
        none,
        busy,    // 503, and nothing was done
        lost,    // it was done, and the answer is 500
        silent,  // it was done, and no answer comes
    };
    struct Blob {
        std::string etag;
        WallTime modified;
        Metadata metadata;
        std::string body;
        bool is_leased = false;
    };

    BlobServer() {
        start(0);
        loop_.start();
    }
    ~BlobServer() {
        on_loop([this] {
            silenced_.clear();
            server_.reset();
            network_.reset();
        });
        loop_.stop();
    }

    // An address of a container that is there; by way of another port if one is given.
    std::string address(std::uint16_t port = 0) const {
        return fmt::format("UseDevelopmentStorage=true;BlobEndpoint={};Container=checkpoints",
                           endpoint(port));
    }
    std::string endpoint(std::uint16_t port = 0) const {
        return fmt::format("http://127.0.0.1:{}/devstoreaccount1", port == 0 ? port_ : port);
    }
    std::uint16_t port() const { return port_; }
    // Asked for each request, on the server's thread.
    void set_fault(std::function<Fault(const http::Request&)> fault) {
        on_loop([&] { fault_ = std::move(fault); });
    }
    void set_page_items(std::size_t items) {
        on_loop([&] { page_items_ = items; });
    }
    // Every answer from now on, if it is not 0.
    void set_refusal(int status, std::string code) {
        on_loop([&] { refusal_ = {status, std::move(code)}; });
    }
    // As another program writes it.
    void put(const std::string& name, Metadata metadata, std::string body = {}) {
        on_loop([&] {
            blobs_[name] = {next_etag(), clock_.wall(), std::move(metadata), std::move(body)};
        });
    }
    void lease(const std::string& name) {
        on_loop([&] { blobs_[name].is_leased = true; });
    }
    // As if all blobs had been written so much earlier.
    void age(std::chrono::milliseconds by) {
        on_loop([&] {
            for (auto& [name, blob] : blobs_) blob.modified.milliseconds -= by.count();
        });
    }
    std::map<std::string, Blob> blobs() {
        std::map<std::string, Blob> copy;
        on_loop([&] { copy = blobs_; });
        return copy;
    }
    // The container is gone until somebody creates it.
    void remove_container() {
        on_loop([&] {
            has_container_ = false;
            blobs_.clear();
        });
    }
    bool has_container() {
        bool is_there = false;
        on_loop([&] { is_there = has_container_; });
        return is_there;
    }
    std::uint64_t requests() {
        std::uint64_t count = 0;
        on_loop([&] { count = requests_; });
        return count;
    }
    // Ends all connections, and takes none until start_again().
    void end() {
        on_loop([this] {
            silenced_.clear();
            server_.reset();
        });
    }
    void start_again() {
        on_loop([this] { start(port_); });
    }

private:
    // All that the server has belongs to its loop.
    void on_loop(Task task) { io::system::run_and_wait(loop_, std::move(task)); }

    void start(std::uint16_t port) {
        server_ = std::make_unique<http::Server>(
            loop_, http::ServerOptions(),
            [this](const http::Request& request, Callback<void(http::Response)> done) {
                handle(request, std::move(done));
            },
            nullptr);
        auto listener = network_->listen({"127.0.0.1", port});
        EK_CHECK(listener.ok(), "the test's port is free");
        port_ = (*listener)->local().port;
        server_->serve(std::move(*listener));
    }

    void handle(const http::Request& request, Callback<void(http::Response)> done) {
        ++requests_;
        if (refusal_.first != 0) return done(error(refusal_.first, refusal_.second));
        const Fault fault = fault_ ? fault_(request) : Fault::none;
        if (fault == Fault::busy) return done(error(503, "ServerBusy"));
        http::Response response = answer(request);
        if (fault == Fault::lost) return done(error(500, "InternalError"));
        if (fault == Fault::silent) return silenced_.push_back(std::move(done));
        done(std::move(response));
    }

    static http::Response error(int status, const std::string& code) {
        http::Response response{
            status, fmt::format("<Error><Code>{}</Code></Error>", code), "application/xml", {}};
        response.fields.push_back({"x-ms-error-code", code});
        return response;
    }

    std::string next_etag() { return fmt::format("0x8D{:X}", ++last_etag_); }

    http::Response answer(const http::Request& request) {
        constexpr std::string_view root = "/devstoreaccount1/checkpoints";
        const std::string path = percent_decoded(request.path);
        if (!path.starts_with(root)) return error(404, "ContainerNotFound");
        const std::string name = path.substr(std::min(root.size() + 1, path.size()));
        if (name.empty() && request.method == "PUT" && !std::exchange(has_container_, true)) {
            return {201, "", "application/xml", {}};
        }
        if (!has_container_) return error(404, "ContainerNotFound");
        if (name.empty())
            return request.method == "PUT" ? error(409, "ContainerAlreadyExists")
                                           : list(request.query);
        const auto found = blobs_.find(name);
        const std::string expected = request.field("If-Match");
        const bool is_there = found != blobs_.end();
        if (request.method == "PUT" && request.query != "comp=metadata") {
            if (request.field("If-None-Match") == "*" && is_there) {
                return error(409, "BlobAlreadyExists");
            }
            if (!expected.empty() && (!is_there || "\"" + found->second.etag + "\"" != expected)) {
                return error(412, "ConditionNotMet");
            }
            blobs_[name] = {next_etag(), clock_.wall(), metadata_of(request), request.body};
            return shown(201, blobs_[name]);
        }
        if (!is_there) return error(404, "BlobNotFound");
        if (!expected.empty() && "\"" + found->second.etag + "\"" != expected) {
            return error(412, "ConditionNotMet");
        }
        if (request.method == "PUT") {
            found->second.etag = next_etag();
            found->second.modified = clock_.wall();
            found->second.metadata = metadata_of(request);
            return shown(200, found->second);
        }
        if (request.method == "DELETE") {
            blobs_.erase(found);
            return {202, "", "application/xml", {}};
        }
        http::Response response = shown(200, found->second);
        response.body = found->second.body;
        for (const auto& [key, value] : found->second.metadata) {
            response.fields.push_back({"x-ms-meta-" + key, value});
        }
        return response;
    }

    static Metadata metadata_of(const http::Request& request) {
        Metadata metadata;
        for (const http::Field& field : request.fields) {
            if (!field.name.starts_with("x-ms-meta-")) continue;
            metadata.emplace_back(field.name.substr(10), field.value);
        }
        return metadata;
    }

    static http::Response shown(int status, const Blob& blob) {
        http::Response response{status, "", "application/octet-stream", {}};
        response.fields = {{"ETag", "\"" + blob.etag + "\""},
                           {"Last-Modified", http_date(blob.modified)}};
        return response;
    }

    static std::string parameter(std::string_view query, std::string_view name) {
        while (!query.empty()) {
            const std::size_t end = std::min(query.find('&'), query.size());
            const std::string_view pair = query.substr(0, end);
            query.remove_prefix(std::min(end + 1, query.size()));
            const std::size_t equals = pair.find('=');
            if (pair.substr(0, equals) == name) return percent_decoded(pair.substr(equals + 1));
        }
        return {};
    }

    static std::string escaped(std::string_view text) {
        std::string result;
        for (const char c : text) {
            result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
        }
        return result;
    }

    http::Response list(const std::string& query) const {
        const std::string prefix = parameter(query, "prefix");
        std::string marker = parameter(query, "marker");
        const std::size_t items_max =
            std::min<std::size_t>(page_items_, std::stoul(parameter(query, "maxresults")));
        // The marker is opaque, and a first page may be empty.
        const bool begins_empty = marker.empty() && page_items_ < 10;
        if (marker.starts_with("2!")) marker.erase(0, 2);
        std::string xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults><Blobs>";
        std::size_t count = 0;
        auto blob = blobs_.lower_bound(std::max(prefix, marker));
        for (; blob != blobs_.end() && blob->first.starts_with(prefix); ++blob) {
            if (count == items_max || begins_empty) break;
            ++count;
            xml += fmt::format(
                "<Blob><Name>{}</Name><Properties><Last-Modified>{}</Last-Modified><Etag>{}</Etag>"
                "<Content-Length>{}</Content-Length><LeaseState>{}</LeaseState></Properties>"
                "<Metadata>",
                escaped(blob->first), http_date(blob->second.modified), blob->second.etag,
                blob->second.body.size(), blob->second.is_leased ? "leased" : "available");
            for (const auto& [key, value] : blob->second.metadata) {
                xml += value.empty() ? fmt::format("<{}/>", key)
                                     : fmt::format("<{0}>{1}</{0}>", key, escaped(value));
            }
            xml += "</Metadata></Blob>";
        }
        const bool is_cut = blob != blobs_.end() && blob->first.starts_with(prefix);
        const std::string next = is_cut ? "2!" + escaped(blob->first) : "";
        xml += fmt::format("</Blobs><NextMarker>{}</NextMarker></EnumerationResults>", next);
        return {200, xml, "application/xml", {}};
    }

    SystemClock clock_;
    std::map<std::string, Blob> blobs_;
    std::function<Fault(const http::Request&)> fault_;
    std::pair<int, std::string> refusal_;
    bool has_container_ = true;
    std::size_t page_items_ = 5000;
    std::uint64_t last_etag_ = 0;
    std::uint64_t requests_ = 0;
    std::vector<Callback<void(http::Response)>> silenced_;
    io::system::LoopThread loop_{"blobs"};
    std::unique_ptr<io::system::SystemNetwork> network_ =
        std::make_unique<io::system::SystemNetwork>(loop_);
    std::unique_ptr<http::Server> server_;
    std::uint16_t port_ = 0;
};

}  // namespace evenkeel::checkpoint
