#include "cli/submission/context_upload.hpp"

#include <chrono>
#include <utility>

#include "cli/client/interrupts.hpp"
#include "hpsearch/io/archive/context_archive.hpp"
#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::cli {

using engine::Value;

bool needs_packed_context(const Value& tree) {
  const Value* source = tree.at_path("source");
  return source == nullptr || !(*source == Value("in_place"));
}

Outcome<context::ContextListing> look_at_context(const std::string& directory, std::uint64_t megabytes) {
  auto listing = context::context_files(directory);
  if (!listing) {
    return usage_failure(listing.error().message);
  }
  if (const auto fits = context::check_size("the context directory " + directory, listing->files, megabytes);
      !fits) {
    return usage_failure(fits.error().message);
  }
  return *std::move(listing);
}

Outcome<std::string> upload_context(const Client& client, const std::string& directory,
                                    const std::vector<context::ContextFile>& files) {
  const auto packed = context::pack(directory, files);
  if (!packed) {
    return plain_failure(packed.error().message);
  }
  const std::string digest = files::sha256_of(*packed);
  const std::string target = "/api/v1/contexts/" + digest;
  // Repeating a request is harmless, so a lost one may be sent again.
  constexpr int most_tries = 3;
  for (int attempt = 1;; ++attempt) {
    const Outcome<bool> known = client.has(target);
    const Outcome<engine::Done> there = !known   ? Outcome<engine::Done>(known.failure())
                                        : *known ? Outcome<engine::Done>(engine::Done{})
                                                 : client.put_archive(target, *packed);
    if (there) {
      return digest;
    }
    if (there.failure().exit != Exit::unreachable || attempt == most_tries) {
      return there.failure();
    }
    nap(std::chrono::milliseconds(200 * attempt));
  }
}

}  // namespace hpsearch::cli
