#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// DIR/store.json: where the store of a state directory is, if it isn't in the directory itself.
struct StoreAddress {
  std::string address;  ///< Without secrets.
  std::string cluster;  ///< The number of its identity.
};

void spell(auto& fields, proto::Is<StoreAddress> auto& record) {
  fields("store", record.address);
  fields("cluster", record.cluster);
}

/// Null: the store is in the directory, or there is none. corrupt: the file can't be read as such a record.
[[nodiscard]] engine::Result<std::optional<StoreAddress>> read_store_address(
    const std::string& state_directory);
[[nodiscard]] engine::Status write_store_address(const std::string& state_directory,
                                                 const StoreAddress& address);
void remove_store_address(const std::string& state_directory) noexcept;

/// Checks that a store is that of a state directory: the one that the directory names, or that lies in it.
/// Done for a directory without a store. wrong_state: it has another one; the message has the remedy.
[[nodiscard]] engine::Status check_belongs(const std::string& state_directory, const StoreAddress& store);

}  // namespace hpsearch::daemon
