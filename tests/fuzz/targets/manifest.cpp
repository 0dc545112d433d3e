#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/checkpoint_manifest.hpp"

// A checkpoint's list of files. One that is written can be read, and is then written the same.

namespace hpsearch::fuzz {
namespace {

std::string written(const proto::CheckpointManifest& manifest) {
  return engine::compact_json(proto::encode_value(manifest));
}

engine::Result<proto::CheckpointManifest> read(std::string_view text) {
  const auto json = proto::parse_json(text, proto::manifest_limits);
  return json ? proto::decode_value<proto::CheckpointManifest>(*json) : json.error();
}

void run_manifest(std::string_view bytes) {
  const auto manifest = read(bytes);
  if (!manifest) {
    HPSEARCH_CHECK(!manifest.error().message.empty(), "an error has a reason");
    return;
  }
  const std::string text = written(*manifest);
  const auto again = read(text);
  HPSEARCH_CHECK(again.has_value(), "what is written can be read");
  HPSEARCH_CHECK(written(*again) == text, "and it is the same");
}

Seeds manifest_seeds() {
  proto::CheckpointManifest manifest{
      .what = proto::manifest_mark,
      .format = 1,
      .experiment = engine::ExperimentId{7},
      .trial = engine::TrialNumber{300},
      .attempt = engine::AttemptNumber{2},
      .step = engine::Units{27},
      .files = {{.path = "weights.bin", .link = {}, .bytes = 1'048'576, .crc32c = 0xDEADBEEF},
                {.path = "latest", .link = "weights.bin", .bytes = {}, .crc32c = {}}}};
  Seeds all{written(manifest)};
  manifest.files.clear();
  all.push_back(written(manifest));
  return all;
}

const Registered manifest_target({"manifest", run_manifest, manifest_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
