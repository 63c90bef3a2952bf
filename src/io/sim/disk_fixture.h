// What tests on the simulated disk say in one word.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/sim/disk.h"

namespace evenkeel::io::sim {

using enum CrashPolicy;

constexpr CrashPolicy policies[] = {drop_all,         keep_all, random_subset,
                                    grown_with_zeros, prefix,   any};
constexpr std::size_t sector = 512;

inline std::unique_ptr<File> open(Disk& disk, const std::string& path,
                                  OpenMode mode = OpenMode::write) {
    return *disk.open(path, mode);
}

inline void write(Disk& disk, const std::string& path, std::uint64_t position,
                  std::string_view text) {
    EXPECT_TRUE(open(disk, path)->write(position, as_bytes(text)).ok());
}

inline void sync(Disk& disk, const std::string& path) {
    EXPECT_TRUE(open(disk, path)->sync().ok());
}

inline void sync_folder(Disk& disk, const std::string& path) {
    EXPECT_TRUE(disk.sync_directory(path).ok());
}

// A file whose name and content are as asked; nothing of it is synced.
inline void make(Disk& disk, const std::string& path, std::string_view text) {
    EXPECT_TRUE(open(disk, path, OpenMode::create)->write(0, as_bytes(text)).ok());
}

// The same, and durable.
inline void make_durable(Disk& disk, const std::string& path, std::string_view text,
                         const std::string& folder = "") {
    make(disk, path, text);
    sync(disk, path);
    sync_folder(disk, folder);
}

inline std::optional<std::string> text_in(Disk& disk, const std::string& path) {
    const auto content = read_file(disk, path, 1 << 24);
    if (!content.ok()) return std::nullopt;
    return std::string(as_text(*content));
}

// All that can be told apart: every file with its content.
inline std::map<std::string, std::string> all_of(Disk& disk) {
    std::map<std::string, std::string> all;
    for (const auto& path : disk.files()) all[path] = *text_in(disk, path);
    return all;
}

inline std::string random_text(Random& random, std::size_t size) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random.between('a', 'z'));
    return text;
}

}  // namespace evenkeel::io::sim
