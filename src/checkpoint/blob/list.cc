#include "checkpoint/blob/list.h"

#include <algorithm>

#include "base/number.h"
#include "base/percent.h"
#include "base/text.h"
#include "http/client.h"

namespace evenkeel::checkpoint {
namespace {

constexpr std::size_t depth_max = 16;
constexpr std::size_t items_max = 100'000;
constexpr std::size_t metadata_max = 256;  // of one item

Error malformed(std::string_view why) {
    return {ErrorCode::corrupt, "the list of blobs is malformed: " + std::string(why)};
}

void append_utf8(std::string& text, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0 | code >> 6);
        put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        put(0xE0 | code >> 12);
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    } else {
        put(0xF0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3F));
        put(0x80 | (code >> 6 & 0x3F));
        put(0x80 | (code & 0x3F));
    }
}

// "&amp;" and its like; what is none of them stays as it is.
std::string unescaped(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t ampersand = std::min(text.find('&'), text.size());
        result += text.substr(0, ampersand);
        text.remove_prefix(ampersand);
        if (text.empty()) break;
        const std::size_t end = text.find(';');
        const std::string_view name = end == text.npos ? "" : text.substr(1, end - 1);
        std::uint32_t code = 0;
        if (name.starts_with('#')) {
            const bool is_hex = name.starts_with("#x");
            code = parse_number<std::uint32_t>(name.substr(is_hex ? 2 : 1), is_hex ? 16 : 10)
                       .value_or(0);
            if (code > 0x10FFFF) code = 0;
        } else if (name == "amp") {
            code = '&';
        } else if (name == "lt") {
            code = '<';
        } else if (name == "gt") {
            code = '>';
        } else if (name == "quot") {
            code = '"';
        } else if (name == "apos") {
            code = '\'';
        }
        if (code == 0) {
            result += '&';
            text.remove_prefix(1);
        } else {
            append_utf8(result, code);
            text.remove_prefix(end + 1);
        }
    }
    return result;
}

// Walks over elements, and tells of each one when it ends: its path, attributes and own text.
class Reader {
public:
    explicit Reader(std::string_view xml) : rest_(xml) {}
    virtual ~Reader() = default;

    Result<> read() {
        while (!rest_.empty()) {
            const std::size_t open = std::min(rest_.find('<'), rest_.size());
            if (!path_.empty()) text_ += rest_.substr(0, open);
            rest_.remove_prefix(open);
            if (rest_.empty()) break;
            EK_TRY(read_tag());
        }
        if (!path_.empty()) return malformed("it ends too early");
        return {};
    }

protected:
    // The element's name is the last of `path`.
    virtual Result<> on_begin(const std::vector<std::string>& path) = 0;
    virtual Result<> on_end(const std::vector<std::string>& path, std::string_view attributes,
                            const std::string& text) = 0;

private:
    Result<> read_tag() {
        for (const auto& [begin, end] : {std::pair("<!--", "-->"), std::pair("<?", "?>")}) {
            if (!rest_.starts_with(begin)) continue;
            const std::size_t at = rest_.find(end);
            if (at == rest_.npos) return malformed("it ends too early");
            rest_.remove_prefix(at + std::string_view(end).size());
            return {};
        }
        if (rest_.starts_with("<!")) return malformed("it has a declaration");
        const std::size_t close = rest_.find('>');
        if (close == rest_.npos) return malformed("it ends too early");
        std::string_view tag = rest_.substr(1, close - 1);
        rest_.remove_prefix(close + 1);
        if (tag.starts_with('/')) return end_element(tag.substr(1));
        const bool is_empty = tag.ends_with('/');
        if (is_empty) tag.remove_suffix(1);
        const std::size_t name_end = std::min(tag.find_first_of(" \t\r\n"), tag.size());
        if (name_end == 0) return malformed("an element has no name");
        if (path_.size() == depth_max) return malformed("it is too deep");
        path_.emplace_back(tag.substr(0, name_end));
        attributes_ = tag.substr(name_end);
        text_.clear();
        EK_TRY(on_begin(path_));
        return is_empty ? end_element(path_.back()) : Result<>();
    }

    Result<> end_element(std::string_view name) {
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (path_.empty() || path_.back() != name) return malformed("an element ends wrongly");
        EK_TRY(on_end(path_, attributes_, unescaped(text_)));
        path_.pop_back();
        text_.clear();
        attributes_ = {};
        return {};
    }

    std::string_view rest_;
    std::vector<std::string> path_;
    std::string_view attributes_;  // of the last element that began
    std::string text_;             // since the last tag
};

class ListReader final : public Reader {
public:
    using Reader::Reader;
    BlobPage page;
    bool is_list = false;

private:
    Result<> on_begin(const std::vector<std::string>& path) override {
        if (path.size() == 1) {
            if (path[0] != "EnumerationResults") return malformed("it is something else");
            is_list = true;
        }
        if (path.size() == 3 && path[1] == "Blobs" && path[2] == "Blob") {
            if (page.items.size() == items_max) return malformed("it is too long");
            page.items.emplace_back();
        }
        return {};
    }

    Result<> on_end(const std::vector<std::string>& path, std::string_view attributes,
                    const std::string& text) override {
        if (path.size() == 2 && path[1] == "NextMarker") page.next = text;
        if (path.size() < 3 || path[1] != "Blobs" || path[2] != "Blob") return {};
        BlobItem& item = page.items.back();
        if (path.size() == 3 && item.name.empty()) page.items.pop_back();
        if (path.size() == 4 && path[3] == "Name") {
            const bool is_encoded = attributes.find("Encoded=\"true\"") != attributes.npos;
            item.name = is_encoded ? percent_decoded(text) : text;
        }
        if (path.size() != 5) return {};
        if (path[3] == "Metadata") {
            if (item.metadata.size() == metadata_max) return malformed("too much metadata");
            item.metadata.emplace_back(lower_case(path[4]), text);
        } else if (path[3] == "Properties") {
            take_property(item, path[4], text);
        }
        return {};
    }

    static void take_property(BlobItem& item, const std::string& name, const std::string& text) {
        if (name == "Etag") item.etag = bare_etag(text);
        if (name == "Last-Modified") item.modified = http::parse_date(text).value_or(WallTime{});
        if (name == "LeaseState") item.is_leased = text == "leased";
        if (name == "Content-Length") read_number(text, item.bytes);
    }
};

class ErrorReader final : public Reader {
public:
    using Reader::Reader;
    std::string code;

private:
    Result<> on_begin(const std::vector<std::string>&) override { return {}; }
    Result<> on_end(const std::vector<std::string>& path, std::string_view,
                    const std::string& text) override {
        if (path.size() == 2 && path[0] == "Error" && path[1] == "Code") code = text;
        return {};
    }
};

std::string_view without_mark(std::string_view xml) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (xml.starts_with(byte_order_mark)) xml.remove_prefix(byte_order_mark.size());
    return xml;
}

}  // namespace

Result<BlobPage> parse_blob_list(std::string_view xml) {
    ListReader reader(without_mark(xml));
    EK_TRY(reader.read());
    if (!reader.is_list) return malformed("it is empty");
    return std::move(reader.page);
}

std::string parse_blob_error(std::string_view xml) {
    ErrorReader reader(without_mark(xml));
    return reader.read().ok() ? reader.code : std::string();
}

std::string bare_etag(std::string_view etag) {
    if (etag.starts_with("W/")) etag.remove_prefix(2);
    if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
        etag = etag.substr(1, etag.size() - 2);
    }
    return std::string(etag);
}

}  // namespace evenkeel::checkpoint
