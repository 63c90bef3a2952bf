// The parts of a crash that need no whole disk; the rest is in disk_crash_contract.h.
#include "io/sim/disk_tree.h"

#include <gtest/gtest.h>

namespace evenkeel::io::sim {
namespace {

class DiskTreeTest : public testing::Test {
protected:
    NodeId add(std::string_view path) {
        return tree.add(*tree.find(OperationKind::create, path), false);
    }
    static bool has(const DiskTree& image, std::string_view path) {
        const auto place = image.find(OperationKind::open, path);
        return place.ok() && place->node != NodeId::none;
    }

    DiskTree tree;
    Random random{1};
};

TEST_F(DiskTreeTest, counts_changes_until_they_are_synced) {
    const NodeId file = add("a");
    tree.write(file, 0, as_bytes("x"));
    EXPECT_EQ(tree.pending(), 2u);

    tree.sync(file, true);
    tree.sync_names(NodeId::root);

    EXPECT_EQ(tree.pending(), 0u);
    EXPECT_EQ(tree.crash(random, CrashPolicy::drop_all).content(file).size(), 1u);
}

TEST_F(DiskTreeTest, loses_a_name_that_was_not_synced) {
    add("a");

    EXPECT_FALSE(has(tree.crash(random, CrashPolicy::drop_all), "a"));
    EXPECT_TRUE(has(tree.crash(random, CrashPolicy::keep_all), "a"));
    EXPECT_TRUE(has(tree.kill(), "a"));
}

TEST_F(DiskTreeTest, keeps_a_file_without_a_name_while_it_is_open) {
    const NodeId file = add("a");
    tree.open(file);
    tree.write(file, 0, as_bytes("xyz"));
    tree.change_name({.node = file, .from_folder = NodeId::root, .from = "a"});
    tree.sync_names(NodeId::root);
    EXPECT_EQ(tree.used_bytes(), 3u);

    tree.close(file);

    EXPECT_EQ(tree.used_bytes(), 0u);
    EXPECT_FALSE(tree.has_open());
}

TEST_F(DiskTreeTest, locks_a_file_once) {
    const NodeId file = add("a");

    EXPECT_TRUE(tree.lock(file));
    EXPECT_FALSE(tree.lock(file));
    EXPECT_FALSE(tree.kill().has_locked());
    tree.unlock(file);
    EXPECT_TRUE(tree.lock(file));
}

TEST_F(DiskTreeTest, shares_nothing_that_an_image_changes) {
    const NodeId file = add("a");
    tree.write(file, 0, as_bytes("old"));
    DiskTree image = tree.kill();

    image.write(file, 0, as_bytes("newer"));

    EXPECT_EQ(tree.content(file).size(), 3u);
    EXPECT_EQ(image.content(file).size(), 5u);
}

}  // namespace
}  // namespace evenkeel::io::sim
