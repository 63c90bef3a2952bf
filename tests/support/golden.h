// Golden files with several texts in one: each begins behind a line "## name" and ends before the
// next such line. The line end before that is not part of it. Lines before the first are comments.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "support/paths.h"

namespace evenkeel::test {

// By name; of a file in tests/data.
inline std::map<std::string, std::string> golden_texts(std::string_view file_name) {
    std::map<std::string, std::string> texts;
    std::ifstream file(data_path(file_name));
    std::string* text = nullptr;
    bool is_first = true;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("## ")) {
            text = &texts[line.substr(3)];
            is_first = true;
        } else if (text != nullptr) {
            if (!is_first) *text += '\n';
            *text += line;
            is_first = false;
        }
    }
    return texts;
}

}  // namespace evenkeel::test
