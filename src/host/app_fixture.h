// App folders of tests.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "io/system/files.h"
#include "support/temporary_directory.h"

namespace evenkeel::host {

// A folder of files that is gone after the test.
class AppFolder {
public:
    // `name` may have folders in front, which are made.
    AppFolder& add(const std::string& name, const std::string& text) {
        if (const auto slash = name.find('/'); slash != std::string::npos) {
            (void)files_.make_directory(path() + "/" + name.substr(0, slash));
        }
        const auto written = io::replace_file(files_, path() + "/" + name, as_bytes(text));
        EXPECT_TRUE(written.ok()) << written.error().detail;
        return *this;
    }
    const std::string& path() const { return folder_.path(); }

private:
    test::TemporaryDirectory folder_;
    io::system::SystemFiles files_;
};

}  // namespace evenkeel::host
