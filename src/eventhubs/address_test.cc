#include "eventhubs/address.h"

#include <gtest/gtest.h>

namespace evenkeel::eventhubs {
namespace {

using Kind = Address::Kind;

TEST(Address, is_read_in_all_the_spellings_of_clients) {
    for (const char* const text :
         {"eh1/Partitions/3", "/eh1/Partitions/3", "eh1/partitions/3/",
          "sb://host/eh1/Partitions/3", "amqps://host:5671/eh1/PARTITIONS/3",
          "amqp://127.0.0.1:5672/eh1/Partitions/3?x=1", "amqps://host/eh1%2FPartitions%2f3"}) {
        const Address address = parse_address(text);

        EXPECT_EQ(address.kind, Kind::partition) << text;
        EXPECT_EQ(address.hub, "eh1") << text;
        EXPECT_EQ(address.partition, "3") << text;
    }
}

TEST(Address, of_a_consumer_has_hub_group_and_partition) {
    for (const char* const text : {"eh1/ConsumerGroups/$Default/Partitions/0",
                                   "amqps://host/eh1/consumergroups/$Default/partitions/0",
                                   "/eh1/ConsumerGroups/%24Default/Partitions/0"}) {
        const Address address = parse_address(text);

        EXPECT_EQ(address.kind, Kind::consumer) << text;
        EXPECT_EQ(address.hub, "eh1") << text;
        EXPECT_EQ(address.group, "$Default") << text;
        EXPECT_EQ(address.partition, "0") << text;
    }
}

TEST(Address, without_a_partition_is_still_that_of_a_consumer) {
    const Address address = parse_address("eh1/ConsumerGroups/g");

    EXPECT_EQ(address.kind, Kind::consumer);
    EXPECT_EQ(address.partition, "");
}

TEST(Address, is_parsed_from_the_right_because_hubs_may_have_slashes) {
    EXPECT_EQ(parse_address("team/Partitions/eh").hub, "team");
    EXPECT_EQ(parse_address("team/eh1").hub, "team/eh1");
    EXPECT_EQ(parse_address("sb://h/team/eh1/Partitions/12").hub, "team/eh1");
    EXPECT_EQ(parse_address("team/eh1/ConsumerGroups/g/Partitions/1").hub, "team/eh1");
    EXPECT_EQ(parse_address("a/Partitions/1/Partitions/2").hub, "a/Partitions/1");
}

TEST(Address, of_nodes_may_stand_alone_or_behind_a_hub) {
    EXPECT_EQ(parse_address("$cbs").kind, Kind::cbs);
    EXPECT_EQ(parse_address("amqps://host/$CBS").kind, Kind::cbs);
    EXPECT_EQ(parse_address("$management").kind, Kind::management);
    EXPECT_EQ(parse_address("$management").hub, "");
    EXPECT_EQ(parse_address("amqps://host:5671/team/eh1/$management").kind, Kind::management);
    EXPECT_EQ(parse_address("team/eh1/$management").hub, "team/eh1");
}

TEST(Address, of_management_may_name_a_consumer_group) {
    const Address address = parse_address("amqps://host/team/eh1/ConsumerGroups/g/$management");

    EXPECT_EQ(address.kind, Kind::management);
    EXPECT_EQ(address.hub, "team/eh1");
    EXPECT_EQ(address.group, "g");
}

TEST(Address, keeps_a_hub_called_like_a_word_of_addresses) {
    EXPECT_EQ(parse_address("Partitions/0").kind, Kind::hub);
    EXPECT_EQ(parse_address("Partitions/0").hub, "Partitions/0");
    EXPECT_EQ(parse_address("").hub, "");
    EXPECT_EQ(parse_address("///").hub, "");
    EXPECT_EQ(parse_address("sb://host").hub, "");
}

TEST(Path, leaves_scheme_host_port_case_and_outer_slashes_out) {
    EXPECT_EQ(path_of("sb://My-Host:5671/Eh1/ConsumerGroups/$Default/"),
              "eh1/consumergroups/$default");
    EXPECT_EQ(path_of("sb://host/"), "");
    EXPECT_EQ(path_of("sb://host"), "");
    EXPECT_EQ(path_of("//eh1//"), "eh1");
    EXPECT_EQ(path_of("eh%31"), "eh1");
    EXPECT_EQ(path_of("eh%3"), "eh%3");
}

}  // namespace
}  // namespace evenkeel::eventhubs
