#include "cli/text/units.h"

#include "base/time_point.h"
#include "cli/commands/hub_command.h"
#include "cli/exit_code.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {
namespace {

using namespace std::chrono_literals;

TEST(Units, read_retentions_sizes_and_rates) {
    EXPECT_EQ(parse_retention("7d"), std::chrono::hours(7 * 24));
    EXPECT_EQ(parse_retention("500ms"), 500ms);
    EXPECT_EQ(parse_retention("forever"), 0ms);
    EXPECT_EQ(parse_bytes("10GiB"), std::uint64_t{10} << 30);
    EXPECT_EQ(parse_bytes("500MB"), 500'000'000u);
    EXPECT_EQ(parse_bytes("unlimited"), 0u);
    EXPECT_EQ(parse_rate("2.5/s"), 2.5);
    EXPECT_EQ(parse_rate("600/m"), 10.0);
    EXPECT_EQ(parse_rate("0"), 0.0);
}

TEST(Units, refuse_invalid_values) {
    for (const auto* text :
         {"", "7", "0d", "-1d", "7 d", "7y", "99999999999999999999d", "999999999999w"}) {
        EXPECT_FALSE(parse_retention(text)) << text;
    }
    for (const auto* text : {"", "0", "-1", "1.5GiB", "10gb", "99999999999TiB"}) {
        EXPECT_FALSE(parse_bytes(text)) << text;
    }
    for (const auto* text : {"", "x", "-1", "1/d", "1e99", "nan", "inf"}) {
        EXPECT_FALSE(parse_rate(text)) << text;
    }
}

TEST(Secrets, are_masked_in_error_messages) {
    EXPECT_EQ(
        without_secrets("no 'Endpoint=sb://h;SharedAccessKeyName=a;SharedAccessKey=s3cr=;X=y'"),
        "no 'Endpoint=sb://h;SharedAccessKeyName=a;SharedAccessKey=***;X=y'");
    EXPECT_EQ(without_secrets("amqps://name:s3cr@host:5671/hub and http://host:80/x"),
              "amqps://name:***@host:5671/hub and http://host:80/x");
    EXPECT_EQ(without_secrets("a SharedAccessSignature sr=x&sig=s3cr&se=1"),
              "a SharedAccessSignature sr=x&sig=***&se=1");
    EXPECT_EQ(without_secrets("SharedAccessKey=a SharedAccessKey=b"),
              "SharedAccessKey=*** SharedAccessKey=***");
    EXPECT_EQ(without_secrets("redis://:s3cr@h/0?sentinel_password=s3cr;t&sentinel=main is wrong"),
              "redis://:***@h/0?sentinel_password=***&sentinel=main is wrong");
    EXPECT_EQ(without_secrets("me@home: nothing"), "me@home: nothing");
}

TEST(HubTotals, count_what_a_purge_would_take) {
    PartitionState full;
    full.begin_sequence_number = 10;
    full.last_enqueued_sequence_number = 29;
    full.is_empty = false;
    PartitionState empty;
    empty.partition = 1;
    const std::vector<PartitionState> partitions = {full, empty};

    EXPECT_EQ(totals_of(partitions).events, 20u);
    EXPECT_EQ(purged_events(partitions, {}, {}), 20u);
    EXPECT_EQ(purged_events(partitions, 1, {}), 0u);
    EXPECT_EQ(purged_events(partitions, 0, 15), 5u);
    EXPECT_EQ(purged_events(partitions, {}, 5), 0u);
    EXPECT_EQ(purged_events(partitions, {}, 1000), 20u);
}

TEST(Listing, is_aligned_on_terminals_and_exact_elsewhere) {
    Listing listing({{"HUB"}, {"EVENTS", Listing::Align::right}});
    listing.add({std::string("a"), count_cell(1234567)});
    Terminal people;
    people.is_terminal = true;

    EXPECT_EQ(listing.text(people), "HUB     EVENTS\na    1,234,567\n");
    EXPECT_EQ(listing.text({}), "HUB\tEVENTS\na\t1234567\n");
    EXPECT_EQ(age_text(4200), "4.2s");
    EXPECT_EQ(age_text((6 * 24 + 23) * 3'600'000), "6d 23h");
    EXPECT_EQ(age_cell(1000, 61'000).shown, "1m");
    EXPECT_EQ(age_cell(0, 61'000).shown, "-");
    EXPECT_EQ(rate_cell(0).shown, "0");
    EXPECT_EQ(rate_cell(0.1).shown, "0.1");
    EXPECT_EQ(rate_cell(9830.4).shown, "9,830");
    EXPECT_EQ(rate_cell(9830.4).exact, "9830.4");
}

TEST(HubTotals, add_up_rates_and_find_the_oldest_event) {
    PartitionState empty;
    PartitionState old;
    old.events_in_per_second = 1.5;
    old.events_out_per_second = 3;
    old.oldest_enqueued_time = time_point({5000});
    PartitionState young = old;
    young.oldest_enqueued_time = time_point({9000});

    const Totals totals = totals_of({empty, young, old});

    EXPECT_EQ(totals.in_per_second, 3);
    EXPECT_EQ(totals.out_per_second, 6);
    EXPECT_EQ(totals.oldest_ms, 5000);
    EXPECT_EQ(totals_of({empty}).oldest_ms, 0);
}

}  // namespace
}  // namespace evenkeel::cli
