// Any text as a filter, up to its first line end; and any bytes behind that as the body of an event
// that it looks at, which has properties too. Filters reach the server over HTTP.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "cli/text/event_filter.h"
#include <evenkeel/event.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const auto end = std::min(input.find('\n'), input.size());
    auto filter = cli::EventFilter::parse(input.substr(0, end));
    if (!filter.ok()) {
        EK_CHECK(
            filter.error().code == ErrorCode::invalid_argument && !filter.error().detail.empty(),
            "a filter that is refused says why");
        return 0;
    }
    const std::vector<Property> properties = {
        {"kind", "order"}, {"n", std::int64_t{7}}, {"f", 0.5}, {"on", true}};
    const auto batch = EventBatch::of({{.body = input.substr(std::min(end + 1, input.size())),
                                        .content_type = "application/json",
                                        .properties = properties}},
                                      {.first_sequence_number = 7, .partition_key = "k"});
    const Event& event = batch.events().front();
    const bool is_met = filter->matches({"orders", 3}, event);
    EK_CHECK(filter->matches({"orders", 3}, event) == is_met, "a filter decides by the event");
    return 0;
}
