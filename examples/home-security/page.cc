// The residents' page: serves http://localhost:8090/home/48213 from the aggregates, and from
// nothing else. It needs neither the hub nor the checkpoint store.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "arguments.h"
#include "home_day.h"
#include "memory.h"
#include "web_server.h"

namespace {

using homes::WebAnswer;

constexpr const char* json_type = "application/json";

struct Options {
    std::string aggregates = "aggregates", address = "127.0.0.1", name = {};
    std::string files = HOME_PAGE_FILES;
    std::uint32_t homes = 100'000, partitions = 16, port = 8090;
};

// A number as people write it: 48213 or 48,213. None if the text is something else.
std::optional<std::uint64_t> number_of(std::string_view text) {
    std::string digits;
    for (const char letter : text) {
        if (letter != ',') digits += letter;
    }
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
    return number;
}

class Page {
public:
    Page(const Options& options, homes::Objects& objects)
        : options_(options), days_(objects, options.partitions) {}

    // False if a file of the page cannot be read; then `name` says which.
    bool load(std::string& name) {
        for (const auto& [file, type] :
             std::map<std::string, std::string>{{"home.html", "text/html; charset=utf-8"},
                                                {"home.css", "text/css; charset=utf-8"},
                                                {"home.js", "text/javascript; charset=utf-8"},
                                                {"icon.svg", "image/svg+xml"}}) {
            name = options_.files + "/" + file;
            std::ifstream in(name, std::ios::binary);
            if (!in) return false;
            std::stringstream text;
            text << in.rdbuf();
            files_["/" + file] = {200, type, text.str()};
        }
        return true;
    }

    WebAnswer answer(const std::string& path) {
        constexpr std::string_view data = "/api/home/", page = "/home/";
        if (path.starts_with(data)) return home(std::string_view(path).substr(data.size()));
        // The page itself asks for the data, and says so if there is no such home.
        if (path == "/" || path.starts_with(page)) return files_["/home.html"];
        if (const auto file = files_.find(path); file != files_.end()) return file->second;
        return {404, "text/plain; charset=utf-8", "There is no such page. Try /home/0.\n"};
    }

private:
    WebAnswer home(std::string_view text) {
        const auto number = number_of(text);
        if (!number || *number >= options_.homes) {
            return {
                404, json_type,
                "{\"homes\":" + std::to_string(options_.homes) + ",\"error\":\"no such home\"}"};
        }
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
        const auto home = static_cast<std::uint32_t>(*number);
        const auto day = days_.look(home, now_ms);
        if (day) return {200, json_type, to_json(home, **day, now_ms)};
        if (day.error().code == evenkeel::ErrorCode::not_found) {
            return {200, json_type, to_json(home, homes::HomeDay(), now_ms)};
        }
        std::fprintf(stderr, "page: %s\n", to_string(day.error()).c_str());
        return {503, json_type, "{\"error\":\"the aggregates cannot be read\"}"};
    }

    const Options options_;
    homes::HomeDays days_;
    std::map<std::string, WebAnswer> files_;
};

}  // namespace

int main(int count, char** arguments) {
    Options options;
    homes::Arguments known("page", "Serves the residents' page from the aggregates.");
    known.add("aggregates", options.aggregates, "folder, or azblob:...", "HOME_AGGREGATES");
    known.add("homes", options.homes, "how many there are");
    known.add("partitions", options.partitions, "of the event hub");
    known.add("address", options.address, "where to listen");
    known.add("name", options.name, "of this machine in addresses, besides localhost and numbers");
    known.add("port", options.port, "0: any that is free");
    known.add("files", options.files, "folder with home.html");
    known.require("aggregates");
    if (!known.parse(count, arguments)) return 2;
    if (options.port > 65'535) {
        std::fprintf(stderr, "page: --port is at most 65535\n");
        return 2;
    }
    const auto objects = homes::Objects::open_patiently(options.aggregates, "page");
    if (!objects) {
        std::fprintf(stderr, "page: %s\n", to_string(objects.error()).c_str());
        return 1;
    }
    Page page(options, **objects);
    if (std::string name; !page.load(name)) {
        std::fprintf(stderr, "page: cannot read %s; --files says where it is\n", name.c_str());
        return 1;
    }
    const auto server = homes::WebServer::open(
        options.address, static_cast<std::uint16_t>(options.port), options.name,
        [&page](const std::string& path) { return page.answer(path); });
    if (!server) {
        std::fprintf(stderr, "page: %s\n", to_string(server.error()).c_str());
        return 1;
    }
    std::printf("ready: http://%s:%u/home/0\n", options.address.c_str(), (*server)->port());
    std::fflush(stdout);
    (*server)->run();
    return 0;
}
