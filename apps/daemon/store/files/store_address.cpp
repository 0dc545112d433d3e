#include "daemon/store/files/store_address.hpp"

#include <array>
#include <span>

#include "daemon/store/files/file_system.hpp"
#include "daemon/store/tools/store_seal.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

constexpr const char* file_name = "/store.json";

}  // namespace

Result<std::optional<StoreAddress>> read_store_address(const std::string& state_directory) {
  const std::string path = state_directory + file_name;
  const auto bytes = kernel_files().read(path);
  if (!bytes) {
    return bytes.error().code == Errc::not_found ? Result<std::optional<StoreAddress>>(std::nullopt)
                                                 : bytes.error();
  }
  const auto value = proto::parse_json({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  const auto record = value ? proto::decode_value<StoreAddress>(*value) : Result<StoreAddress>(value.error());
  if (!record) {
    return Error{Errc::corrupt, path + " is damaged: " + record.error().message};
  }
  return std::optional(*record);
}

Status write_store_address(const std::string& state_directory, const StoreAddress& address) {
  const std::string text = engine::compact_json(proto::encode_value(address)) + "\n";
  const std::array parts{std::as_bytes(std::span(text))};
  return write_file_durably(kernel_files(), state_directory + file_name, parts);
}

void remove_store_address(const std::string& state_directory) noexcept {
  kernel_files().remove(state_directory + file_name);
}

Status check_belongs(const std::string& state_directory, const StoreAddress& store) {
  const auto named = read_store_address(state_directory);
  if (!named) {
    return named.error();
  }
  if (*named && (*named)->cluster != store.cluster) {
    return Error{Errc::wrong_state, "the state directory " + state_directory + " has the keys and files of " +
                                        (*named)->address + ", which is another store than " + store.address +
                                        "; use that store, or another --state-dir"};
  }
  const auto sealed = StoreSeal::read(kernel_files(), state_directory + "/events.db");
  if (!*named && sealed && *sealed && std::to_string((*sealed)->cluster) != store.cluster) {
    return Error{Errc::wrong_state, "the state directory " + state_directory +
                                        " has a store in events.db, which is another one than " +
                                        store.address + "; copy it first: hpsearch store copy --from " +
                                        state_directory + " --to " + store.address +
                                        ", or use another --state-dir"};
  }
  return Done{};
}

}  // namespace hpsearch::daemon
