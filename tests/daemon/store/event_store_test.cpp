#include "contract/event_store_contract.hpp"
#include "daemon/store/memory_store.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

struct MemoryFixture {
  std::shared_ptr<MemoryDisk> disk = std::make_shared<MemoryDisk>();
  [[nodiscard]] std::unique_ptr<EventStore> open() const { return std::make_unique<MemoryStore>(disk); }
};

struct SqliteFixture {
  Scratch scratch;
  [[nodiscard]] std::unique_ptr<EventStore> open() const {
    auto store = SqliteStore::open(scratch.path("events.db"));
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, EventStoreContract, MemoryFixture);
INSTANTIATE_TYPED_TEST_SUITE_P(Sqlite, EventStoreContract, SqliteFixture);

}  // namespace
}  // namespace hpsearch::daemon
