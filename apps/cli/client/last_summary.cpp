#include "cli/client/last_summary.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/replace_file.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::cli {
namespace {

std::filesystem::path summary_file(const StateDirectory& state) {
  return state.path() / "last.json";
}

}  // namespace

void save_last_summary(const StateDirectory& state, const engine::Value& experiment) {
  static_cast<void>(files::replace_file(summary_file(state), engine::compact_json(experiment) + "\n",
                                        files::Durability::of_the_disk, files::Readers::owner));
}

void forget_last_summary(const StateDirectory& state) {
  std::error_code ignored;
  std::filesystem::remove(summary_file(state), ignored);
}

std::optional<engine::Value> last_summary(const StateDirectory& state) {
  if (lock_holder(state.lock_file()) || lock_holder(state.daemon() / "lock")) {
    return std::nullopt;
  }
  std::ifstream in(summary_file(state), std::ios::binary);
  if (!in) {
    return std::nullopt;
  }
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto experiment = proto::parse_json(text);
  return experiment && experiment->as_map() != nullptr ? std::optional(*experiment) : std::nullopt;
}

}  // namespace hpsearch::cli
