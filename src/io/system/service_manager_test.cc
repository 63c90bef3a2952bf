#include "io/system/service_manager.h"

#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace evenkeel::io::system {
namespace {

// What a service manager hears.
class Ear {
public:
    explicit Ear(const std::string& name) {
        descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name.data(), name.size());
        if (name.starts_with('@')) address.sun_path[0] = '\0';
        const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    }
    ~Ear() { ::close(descriptor_); }
    std::string next() {
        char buffer[1024];
        const auto got = ::recv(descriptor_, buffer, sizeof buffer, MSG_DONTWAIT);
        return got < 0 ? "nothing" : std::string(buffer, static_cast<std::size_t>(got));
    }

private:
    int descriptor_ = -1;
};

TEST(ServiceManager, hears_how_we_are) {
    const test::TemporaryDirectory folder;
    const std::string path = folder.path() + "/notify";
    Ear ear(path);
    const ServiceManager manager(path, "", "");

    manager.ready("Takes clients");
    EXPECT_EQ(ear.next(), "READY=1\nSTATUS=Takes clients\nMAINPID=" + std::to_string(getpid()));
    manager.reloading();
    EXPECT_TRUE(ear.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
    manager.alive();
    EXPECT_EQ(ear.next(), "WATCHDOG=1");
    manager.stopping();
    EXPECT_TRUE(ear.next().starts_with("STOPPING=1\n"));
}

TEST(ServiceManager, hears_by_a_name_that_is_no_file) {
    const std::string name = "@evenkeel-test-" + std::to_string(getpid());
    Ear ear(name);

    ServiceManager(name, "", "").alive();

    EXPECT_EQ(ear.next(), "WATCHDOG=1");
}

TEST(ServiceManager, is_told_nothing_if_there_is_none) {
    for (const std::string socket : {"", "relative", "/", "/no/such/socket"}) {
        const ServiceManager manager(socket, "", "");
        manager.ready("x");
        manager.stopping();
    }
    ServiceManager(std::string(200, '/'), "", "").alive();
}

TEST(ServiceManager, wants_signs_of_life_twice_in_its_time_from_this_process) {
    const auto interval = [](const std::string& usec, const std::string& pid) {
        return ServiceManager("/x", usec, pid).watchdog_interval();
    };
    EXPECT_EQ(interval("2000000", ""), std::chrono::seconds(1));
    EXPECT_EQ(interval("2000000", std::to_string(getpid())), std::chrono::seconds(1));
    EXPECT_EQ(interval("2000000", "1"), std::nullopt);
    for (const std::string bad : {"", "0", "x", "-1", "99999999999999999999"}) {
        EXPECT_EQ(interval(bad, ""), std::nullopt) << bad;
    }
}

}  // namespace
}  // namespace evenkeel::io::system
