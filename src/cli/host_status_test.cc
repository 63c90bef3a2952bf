#include "cli/host_status.h"

#include <gtest/gtest.h>

#include "host/scale/scale_fixture.h"

namespace evenkeel::cli {
namespace {

host::ScaleController a_controller(host::ScalePolicy policy) {
    return host::ScaleController({.functions = {{"alert", policy}}, .name = "app"});
}

HostStatus a_status(const host::ScaleController& controller) {
    HostStatus status{.app = "/srv/app", .process = 42};
    status.at = {1'700'000'000'000};
    status.now = host::at_second(7);
    status.groups = {{"homes", "alerts"}};
    status.instances.resize(controller.slots().size());
    return status;
}

TEST(HostStatus, explains_every_function_and_instance) {
    auto controller = a_controller({.min = 1});
    controller.note(0, host::spread_load(10, 190), host::at_second(2));
    controller.decide(host::at_second(2));
    controller.is_ready("app-1", host::at_second(3));
    auto status = a_status(controller);
    status.instances[0] = {43, {{"alert", {0, 2}}}};
    status.notes.push_back({status.at, "a note"});

    const auto text = status_text(status_json(status, controller), status.at, Terminal{});

    ASSERT_TRUE(text.ok()) << text.error().detail;
    EXPECT_EQ(*text,
              "Host of /srv/app, pid 42: instances: 2 now, 2 wanted\n"
              "\n"
              "alert: event hub homes, group alerts, 10 partitions, 190 unread\n"
              "  2 wanted, 0 now, from 1 to 10\n"
              "  why: 190 unread / 100 per instance = 2\n"
              "  not more: 2 are enough for up to 200 unread events\n"
              "  not less: 1 instance would have more than 100 unread events each\n"
              "\n"
              "INSTANCE\tPID\tSTATE\tFOR\tPARTITIONS\n"
              "app-1\t43\trunning\t4s\t0 2\n"
              "app-2\t-\tstarting\t5s\tnone\n"
              "\n"
              "Last decisions:\n"
              "  2023-11-14T22:13:20.000Z  a note\n");
}

TEST(HostStatus, says_hold_while_the_lag_is_not_known) {
    auto controller = a_controller({.min = 1});
    controller.note_unknown(0, "out of reach");
    controller.decide(host::at_second(1));
    const auto status = a_status(controller);

    const auto text = status_text(status_json(status, controller), status.at, Terminal{});

    ASSERT_TRUE(text.ok()) << text.error().detail;
    EXPECT_NE(text->find("lag not known\n  hold, at least 1\n  why: hold: the lag is not known: "
                         "out of reach"),
              std::string::npos)
        << *text;
}

TEST(HostStatus, tells_of_a_host_that_is_silent) {
    const auto controller = a_controller({});
    const auto status = a_status(controller);

    const auto text = status_text(status_json(status, controller),
                                  status.at + std::chrono::minutes(2), Terminal{});

    ASSERT_TRUE(text.ok()) << text.error().detail;
    EXPECT_NE(text->find("has not written its status for 2m"), std::string::npos) << *text;
}

TEST(HostStatus, refuses_a_file_that_is_no_status) {
    for (const char* wrong : {"", "{", "[]", "3"}) {
        EXPECT_FALSE(status_text(wrong, {}, Terminal{}).ok()) << wrong;
    }
    for (const char* odd : {"{}", R"({"functions":[3],"instances":[{}],"decisions":{}})",
                            R"({"instances":[{"owns":[1,{"partitions":"x"}]}]})"}) {
        EXPECT_TRUE(status_text(odd, {}, Terminal{}).ok()) << odd;
    }
}

}  // namespace
}  // namespace evenkeel::cli
