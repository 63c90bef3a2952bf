#include <evenkeel/testing/checkpoint_store_contract.h>

namespace evenkeel::contract {
namespace {

INSTANTIATE_TEST_SUITE_P(InMemory, CheckpointStoreContract, ::testing::Values([] {
                             return OpenCheckpointStore(
                                 [store = memory_checkpoint_store()] { return store; });
                         }));

}  // namespace
}  // namespace evenkeel::contract
