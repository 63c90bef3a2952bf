// Objects as blobs of Azure Blob storage, by its REST interface: libcurl carries the requests, and
// each is signed with the account's key (an HMAC over its line and headers, "Shared Key").
// A blob is written by one request, so it is there as a whole or not at all.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <map>
#include <mutex>

#include <curl/curl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "objects.h"

namespace homes {
namespace {

using evenkeel::Error;
using evenkeel::ErrorCode;
using evenkeel::Result;

constexpr const char* version = "2020-10-02";  // of the REST interface
constexpr long connect_seconds_max = 5, request_seconds_max = 30;
constexpr std::size_t handles_kept_max = 32;
// The emulator's account, as its documentation has it.
constexpr const char* emulator =
    "AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErC"
    "z4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1";

struct Account {
    std::string name, key, container;
    std::string endpoint;  // "https://a.blob.core.windows.net", without a slash at its end
    std::string path;      // what the endpoint has behind the host: "/devstoreaccount1", or nothing
    std::string folder;    // in the container: "run-1/", or nothing
};

std::string decoded(const std::string& base64) {
    std::string bytes(base64.size() / 4 * 3 + 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(base64.data()),
                                     static_cast<int>(base64.size()));
    if (size < 0) return {};
    const auto padding = std::count(base64.end() - std::min<std::ptrdiff_t>(2, std::ssize(base64)),
                                    base64.end(), '=');
    bytes.resize(static_cast<std::size_t>(size - padding));
    return bytes;
}

std::string signature_of(const std::string& text, const std::string& key) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
    unsigned char base64[EVP_MAX_MD_SIZE * 2];
    const int length = EVP_EncodeBlock(base64, digest, static_cast<int>(size));
    return {reinterpret_cast<const char*>(base64), static_cast<std::size_t>(length)};
}

// "Name=value;Name=value", as Azure's portal shows it.
std::map<std::string, std::string> fields_of(const std::string& connection) {
    std::map<std::string, std::string> fields;
    for (std::size_t begin = 0; begin < connection.size();) {
        const std::size_t end = std::min(connection.find(';', begin), connection.size());
        const std::size_t equals = connection.find('=', begin);
        if (equals < end) {
            fields[connection.substr(begin, equals - begin)] =
                connection.substr(equals + 1, end - equals - 1);
        }
        begin = end + 1;
    }
    return fields;
}

Result<Account> parse_account(const std::string& connection) {
    auto fields = fields_of(connection);
    if (fields["UseDevelopmentStorage"] == "true") fields.merge(fields_of(emulator));
    Account account{.name = fields["AccountName"],
                    .key = decoded(fields["AccountKey"]),
                    .container = fields["Container"],
                    .endpoint = fields["BlobEndpoint"],
                    .path = {},
                    .folder = fields["Folder"]};
    if (account.name.empty() || account.key.empty() || account.container.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "azblob: needs AccountName=, AccountKey= and Container="};
    }
    if (account.endpoint.empty()) {
        account.endpoint = "https://" + account.name + ".blob.core.windows.net";
    }
    while (account.endpoint.ends_with('/')) account.endpoint.pop_back();
    const std::size_t host = account.endpoint.find("://");
    if (host == std::string::npos) {
        return Error{ErrorCode::invalid_argument, "BlobEndpoint= begins with https:// or http://"};
    }
    const std::size_t path = account.endpoint.find('/', host + 3);
    if (path != std::string::npos) account.path = account.endpoint.substr(path);
    if (!account.folder.empty() && !account.folder.ends_with('/')) account.folder += '/';
    return account;
}

struct Request {
    const char* method = "GET";
    std::string path;                            // behind the endpoint
    std::map<std::string, std::string> query;    // sorted, as it is signed
    std::map<std::string, std::string> headers;  // x-ms-..., in lower case
    std::string_view body = {};
};

struct Answer {
    long status = 0;
    std::string body;
};

std::string now_text() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts = {};
    ::gmtime_r(&now, &parts);
    char text[40];
    return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

std::string authorization(const Account& account, const Request& request) {
    std::string text = std::string(request.method) + "\n\n\n";
    if (!request.body.empty()) text += std::to_string(request.body.size());
    text += "\n\n\n\n\n\n\n\n\n";  // headers that are not sent
    for (const auto& [name, value] : request.headers) text += name + ":" + value + "\n";
    text += "/" + account.name + account.path + request.path;
    for (const auto& [name, value] : request.query) text += "\n" + name + ":" + value;
    return "SharedKey " + account.name + ":" + signature_of(text, account.key);
}

std::size_t take(char* bytes, std::size_t, std::size_t size, void* to) {
    static_cast<std::string*>(to)->append(bytes, size);
    return size;
}

class Blobs final : public Objects {
public:
    explicit Blobs(Account account) : account_(std::move(account)) {}
    ~Blobs() override {
        for (CURL* const handle : idle_) curl_easy_cleanup(handle);
    }
    Blobs(const Blobs&) = delete;
    Blobs& operator=(const Blobs&) = delete;

    Result<> create_container() {
        const auto answer = send({.method = "PUT",
                                  .path = "/" + account_.container,
                                  .query = {{"restype", "container"}},
                                  .headers = {}});
        if (!answer) return answer.error();
        const bool is_there = answer->status == 201 || answer->status == 409;
        return is_there ? Result<>() : failure("create container", account_.container, *answer);
    }

    Result<> put(const std::string& name, std::string_view bytes) override {
        const auto answer = send({.method = "PUT",
                                  .path = path_of(name),
                                  .query = {},
                                  .headers = {{"x-ms-blob-type", "BlockBlob"}},
                                  .body = bytes});
        if (!answer) return answer.error();
        return answer->status == 201 ? Result<>() : failure("write", name, *answer);
    }

    Result<std::string> get(const std::string& name, std::uint64_t offset,
                            std::uint64_t size) override {
        if (size == 0) return std::string();
        const std::string range =
            "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + size - 1);
        auto answer = send({.method = "GET",
                            .path = path_of(name),
                            .query = {},
                            .headers = {{"x-ms-range", range}}});
        if (!answer) return answer.error();
        if (answer->status == 416) return std::string();  // begins behind the end
        if (answer->status / 100 != 2) return failure("read", name, *answer);
        return std::move(answer->body);
    }

    Result<std::vector<std::string>> list(const std::string& folder,
                                          const std::string& after) override {
        std::vector<std::string> names;
        std::string marker;
        do {  // by pages of up to 5,000 names
            Request request{.path = "/" + account_.container,
                            .query = {{"restype", "container"}, {"comp", "list"}},
                            .headers = {}};
            const std::string prefix = account_.folder + folder;
            if (!prefix.empty()) request.query["prefix"] = prefix;
            if (!marker.empty()) request.query["marker"] = marker;
            const auto answer = send(request);
            if (!answer) return answer.error();
            if (answer->status != 200) return failure("list", folder, *answer);
            for (const auto& whole : values_of(answer->body, "Name")) {
                std::string name = whole.substr(std::min(account_.folder.size(), whole.size()));
                if (name > after) names.push_back(std::move(name));
            }
            const auto markers = values_of(answer->body, "NextMarker");
            marker = markers.empty() ? "" : markers.front();
        } while (!marker.empty());
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    // Our names need no escaping: letters, digits, "-", "." and "/".
    std::string path_of(const std::string& name) const {
        return "/" + account_.container + "/" + account_.folder + name;
    }

    // What stands between <tag> and </tag>, each time.
    static std::vector<std::string> values_of(const std::string& xml, const std::string& tag) {
        std::vector<std::string> values;
        const std::string begin = "<" + tag + ">", end = "</" + tag + ">";
        for (std::size_t at = 0; (at = xml.find(begin, at)) != std::string::npos;) {
            at += begin.size();
            const std::size_t until = std::min(xml.find(end, at), xml.size());
            values.push_back(xml.substr(at, until - at));
        }
        return values;
    }

    static Error failure(const std::string& what, const std::string& name, const Answer& answer) {
        ErrorCode code = ErrorCode::unavailable;
        if (answer.status == 400) code = ErrorCode::invalid_argument;
        if (answer.status == 403) code = ErrorCode::not_allowed;
        if (answer.status == 404) code = ErrorCode::not_found;
        return {code, "cannot " + what + " " + name + ": the blob service answered " +
                          std::to_string(answer.status)};
    }

    Result<Answer> send(Request request) {
        request.headers["x-ms-date"] = now_text();
        request.headers["x-ms-version"] = version;
        std::string url = account_.endpoint + request.path;
        char separator = '?';
        CURL* const handle = take_handle();
        for (const auto& [name, value] : request.query) {
            // A marker is whatever the service has made up.
            char* const escaped = curl_easy_escape(handle, value.c_str(), 0);
            url += separator + name + "=" + escaped;
            curl_free(escaped);
            separator = '&';
        }
        curl_slist* headers = nullptr;
        for (const auto& [name, value] : request.headers) {
            headers = curl_slist_append(headers, (name + ": " + value).c_str());
        }
        const std::string proof = "Authorization: " + authorization(account_, request);
        headers = curl_slist_append(headers, proof.c_str());
        headers = curl_slist_append(headers, "Content-Type:");  // none: it would be signed too
        headers = curl_slist_append(headers, "Expect:");

        Answer answer;
        curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
        curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method);
        curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
        if (request.method == std::string_view("PUT")) {
            curl_easy_setopt(handle, CURLOPT_POST, 1L);
            curl_easy_setopt(handle, CURLOPT_POSTFIELDS,
                             request.body.data() ? request.body.data() : "");
            curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                             static_cast<curl_off_t>(request.body.size()));
        }
        curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take);
        curl_easy_setopt(handle, CURLOPT_WRITEDATA, &answer.body);
        curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, connect_seconds_max);
        curl_easy_setopt(handle, CURLOPT_TIMEOUT, request_seconds_max);
        const CURLcode code = curl_easy_perform(handle);
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer.status);
        curl_slist_free_all(headers);
        give_back(handle);
        if (code == CURLE_OK) return answer;
        return Error{ErrorCode::unavailable,
                     "cannot reach " + account_.endpoint + ": " + curl_easy_strerror(code)};
    }

    // A handle keeps its connection, so they are used again.
    CURL* take_handle() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) return curl_easy_init();
        CURL* const handle = idle_.back();
        idle_.pop_back();
        return handle;
    }
    void give_back(CURL* handle) {
        curl_easy_reset(handle);
        const std::lock_guard lock(mutex_);
        if (idle_.size() < handles_kept_max) return idle_.push_back(handle);
        curl_easy_cleanup(handle);
    }

    const Account account_;
    std::mutex mutex_;
    std::vector<CURL*> idle_;
};

}  // namespace

Result<std::unique_ptr<Objects>> open_blobs(const std::string& connection) {
    const auto account = parse_account(connection);
    if (!account) return account.error();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    auto blobs = std::make_unique<Blobs>(*account);
    if (auto created = blobs->create_container(); !created) return created.error();
    return std::unique_ptr<Objects>(std::move(blobs));
}

}  // namespace homes
