#include "encoding/versioned.hpp"

namespace hpsearch::proto {

using engine::Errc;
using engine::Error;

engine::Result<MsgpackItem> after_version(MsgpackItem root, const char* what, std::uint64_t oldest,
                                          std::uint64_t newest, std::size_t size) {
  const auto refuse = [what](const std::string& why) {
    return Error{Errc::corrupt, "not " + (what + (": " + why))};
  };
  if (root.kind() != MsgpackItem::Kind::list || root.size() == 0) {
    return refuse(std::string("it is ") + root.kind_name() + ", not a list that begins with a version");
  }
  std::uint64_t version = 0;
  Trouble trouble;
  if (!read(root.first(), version, trouble)) {
    return refuse("its version " + trouble.what);
  }
  if (version < oldest || version > newest) {
    return Error{Errc::version_mismatch, std::string(what) + " of version " + std::to_string(version) +
                                             "; this build reads " + std::to_string(oldest) + " to " +
                                             std::to_string(newest)};
  }
  if (root.size() != size) {
    return refuse("it has " + std::to_string(root.size()) + " items, not " + std::to_string(size));
  }
  return root.first().next();
}

}  // namespace hpsearch::proto
