// Diagnosis, and bundles for bug reports that must not hold a secret.
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class Doctor : public CliTest {
protected:
    void SetUp() override {
        CliTest::SetUp();
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    }
    void TearDown() override {
        for (const char* name :
             {"XDG_CONFIG_HOME", "EVENKEEL_STORE", "EVENTHUB_CONNECTION_STRING"}) {
            unsetenv(name);
        }
    }
    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
    static std::string content(const std::string& file) {
        std::ifstream in(file, std::ios::binary);
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }

    const test::TemporaryDirectory folder_;
};

TEST_F(Doctor, shows_what_is_well_and_remedies_for_the_rest) {
    const auto well = evenkeel({"doctor", "--folder", folder_.path()});
    EXPECT_TRUE(well.exit_code == 0 || well.exit_code == 8) << well.output << well.errors;
    for (const auto* const name :
         {"reach", "token", "disk space", "disk sync", "open files", "contexts", "environment"}) {
        EXPECT_TRUE(has(well.output, name)) << name << " is not in\n" << well.output;
    }

    const auto ill =
        evenkeel({"doctor", "--folder", path("nowhere"), "--store", "sqlite:" + path("no.db"),
                  "--hub", "Endpoint=sb://localhost:1;UseDevelopmentEmulator=true"});
    EXPECT_EQ(ill.exit_code, 9) << ill.output;
    EXPECT_TRUE(has(ill.output, "FAIL\treach\t")) << ill.output;
    EXPECT_TRUE(has(ill.output, "FAIL\tstore\t")) << ill.output;
    EXPECT_FALSE(has(ill.output, "does the server run")) << "it is a file\n" << ill.output;
    EXPECT_TRUE(has(ill.output, "FAIL\tdisk space\t")) << ill.output;
    EXPECT_TRUE(has(ill.output, "\tstart a hub")) << ill.output;
    EXPECT_TRUE(has(evenkeel({"doctor", "-o", "json"}).output, "\"check\": \"disk sync\""));
}

TEST_F(Doctor, writes_a_bundle_that_can_be_opened) {
    const std::string bundle = path("report.tar.gz");
    ASSERT_EQ(evenkeel({"hub", "create", "in-the-bundle"}).exit_code, 0);
    std::ofstream(path("hub.log")) << "first line\nlast line\n";

    const auto written = evenkeel(
        {"doctor", "--bundle", bundle, "--log", path("hub.log"), "--folder", folder_.path()});

    ASSERT_EQ(written.exit_code, 0) << written.errors;
    struct stat status {};
    ASSERT_EQ(stat(bundle.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
    EXPECT_TRUE(has(written.output, "hubs.json")) << written.output;
    EXPECT_TRUE(has(written.output, "configuration.toml: no --config was given")) << written.output;
    const auto all = fault::run_to_end({"/bin/tar", "-xzOf", bundle});
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    for (const auto* const part : {"in-the-bundle", "evenkeel_incoming", "\"check\": \"reach\"",
                                   "last line", "Max open files", "evenkeel "}) {
        EXPECT_TRUE(has(all.output, part)) << part;
    }
    EXPECT_EQ(evenkeel({"doctor", "--bundle", bundle}).exit_code, 6) << "never overwritten";
    EXPECT_NE(evenkeel({"doctor", "--bundle", path("no/where.tar.gz")}).exit_code, 0);
    EXPECT_EQ(evenkeel({"doctor", "--log", path("hub.log")}).exit_code, 2) << "only with --bundle";
}

TEST_F(Doctor, bundle_has_no_byte_of_a_secret) {
    std::vector<std::string> secrets = {"SAS_KEY_VALUE"};
    const auto secret = [&](const std::string& name) {
        secrets.push_back("s3cr-" + name);
        return secrets.back();
    };
    const std::string other = "Endpoint=sb://other;SharedAccessKeyName=n;SharedAccessKey=";
    setenv("EVENTHUB_CONNECTION_STRING", (other + secret("environment") + "==").c_str(), 1);
    setenv("EVENKEEL_STORE", ("redis://:" + secret("user/info") + "@localhost:1/0").c_str(), 1);
    ASSERT_EQ(evenkeel({"context", "add", "a", "--hub", other + secret("context"), "--store",
                        "azblob:AccountName=a;AccountKey=" + secret("account") + ";Container=c"})
                  .exit_code,
              0);
    ASSERT_EQ(evenkeel({"context", "add", "b", "--hub",
                        "Endpoint=sb://h;SharedAccessSignature=SharedAccessSignature sr=x&sig=" +
                            secret("token") + "&se=1&skn=n",
                        "--store", "postgresql://me:" + secret("postgres") + "@db/progress"})
                  .exit_code,
              0);
    std::ofstream(path("hub.toml"))
        << "# once it was " << secret("comment") << " in primary_key\n"
        << "[[rule]]\nname = \"app\"\nprimary_key = \"" << secret("comment") << "\"\n"
        << "secondary_key = '''\n"
        << secret("lines") << "\n'''\n"
        << "[jwt]\nkey_set_url = \"https://u:" << secret("url") << "@idp/keys\"\n";
    std::ofstream log(path("hub.log"));
    for (const auto& each : secrets) log << "somebody logged " << each << " here\n";
    log << "password=" << secret("logged") << "\n";
    log.close();
    const std::string bundle = path("report.tar.gz");

    const auto written =
        evenkeel({"doctor", "--bundle", bundle, "--config", path("hub.toml"), "--log",
                  path("hub.log"), "--hub", hub_->connection(), "--url", hub_->url()});

    ASSERT_EQ(written.exit_code, 0) << written.errors;
    const auto all = fault::run_to_end({"/bin/tar", "-xzOf", bundle});
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_TRUE(has(all.output, "key_set_url")) << "the configuration is there";
    EXPECT_TRUE(has(all.output, "eh1")) << "the hubs are there";
    const std::string bytes = content(bundle);
    for (const auto& each : secrets) {
        EXPECT_FALSE(has(bytes, each)) << each << " is in\n" << all.output;
        EXPECT_FALSE(has(all.output, each)) << each;
        EXPECT_FALSE(has(written.output + written.errors, each)) << each;
    }
}

TEST_F(Doctor, reports_damaged_settings_instead_of_ending) {
    ASSERT_EQ(evenkeel({"context", "add", "a", "--store", "redis://h"}).exit_code, 0);
    std::ofstream(path("evenkeel/contexts.toml")) << "damaged";

    const auto found = evenkeel({"doctor", "--folder", folder_.path()});

    EXPECT_EQ(found.exit_code, 9) << found.output << found.errors;
    EXPECT_TRUE(has(found.output, "contexts.toml:1: ")) << found.output;
    EXPECT_EQ(evenkeel({"doctor", "--bundle", path("b.tar.gz")}).exit_code, 0);
}

}  // namespace
}  // namespace evenkeel::cli_tests
