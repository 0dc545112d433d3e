#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/api/field_types.hpp"

namespace hpsearch::api {

struct TrialFileSum {
  static constexpr Schema schema{"TrialFileSum", "Files of a trial, summed."};
  engine::TrialNumber trial{};
  engine::WorkerId worker{};
  engine::AttemptNumber attempt{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t left = 0;
  std::optional<Metric> metric{};

  static void list_fields(auto& fields, auto& self) {
    fields("trial", self.trial, "Number of the trial.");
    fields("worker", self.worker, "ID of the worker that handed them over.");
    fields("attempt", self.attempt, "Number of the last attempt there.");
    fields("files", self.files, "Number of files that the daemon has.");
    fields("bytes", self.bytes, "Size of these files.");
    fields("left", self.left, "Number of files that are on the worker only.");
    fields("metric", self.metric, "The trial's best metric; null if there is none.");
  }
};

struct TrialFileSums {
  static constexpr Schema schema{"TrialFileSums", "Files of an experiment by trial."};
  std::vector<TrialFileSum> trials{};

  static void list_fields(auto& fields, auto& self) {
    fields("trials", self.trials, "One entry for each trial and worker.");
  }
};

struct KeptFile {
  static constexpr Schema schema{"KeptFile", "A file that a program left."};
  std::string path{};
  std::uint64_t bytes = 0;
  std::string digest{};
  bool executable = false;
  engine::Value link{};
  engine::WorkerId worker{};

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "Path below the program's working directory.");
    fields("bytes", self.bytes, "Size of the file.");
    fields("digest", self.digest, "SHA-256 of the content.");
    fields("executable", self.executable, "Whether the file is executable.");
    fields("link", self.link, "Where it leads, if it is a symbolic link.");
    fields("worker", self.worker, "ID of the worker that handed it over.");
  }
};

struct OtherFile {
  static constexpr Schema schema{"OtherFile", "A file that the daemon does not have."};
  std::string path{};
  std::uint64_t bytes = 0;
  std::string why{};
  engine::WorkerId worker{};

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "Path below the program's working directory.");
    fields("bytes", self.bytes, "Size of the file.");
    fields("why", self.why, "Why the daemon doesn't have it.");
    fields("worker", self.worker, "ID of the worker on which the program ran.");
  }
};

struct TrialFiles {
  static constexpr Schema schema{"TrialFiles", "Files of a trial."};
  std::vector<KeptFile> files{};
  std::vector<OtherFile> dropped{};
  std::uint64_t dropped_unnamed = 0;
  std::vector<OtherFile> left{};
  std::uint64_t left_unnamed = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("files", self.files, "The files that the daemon has.");
    fields("dropped", self.dropped, "Files that were deleted.");
    fields("dropped_unnamed", self.dropped_unnamed, "Number of further deleted files.");
    fields("left", self.left, "Files that are on the worker only.");
    fields("left_unnamed", self.left_unnamed, "Number of further files that are on the worker only.");
  }
};

struct CheckpointFile {
  static constexpr Schema schema{"CheckpointFile", "A file of a checkpoint."};
  std::string path{};
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> crc32c{};
  std::optional<std::string> link{};

  static void list_fields(auto& fields, auto& self) {
    fields("path", self.path, "Path below the checkpoint's directory.");
    fields("bytes", self.bytes, "Size of the file.");
    fields("crc32c", self.crc32c, "CRC-32C of the content; null for a link.");
    fields("link", self.link, "Where it leads; null if it is no symbolic link.");
  }
};

struct CheckpointFiles {
  static constexpr Schema schema{"CheckpointFiles", "Files of a checkpoint."};
  std::string id{};
  std::string path{};
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;
  std::vector<CheckpointFile> files{};

  static void list_fields(auto& fields, auto& self) {
    fields("id", self.id, "ID of the checkpoint: EXPERIMENT/TRIAL/ATTEMPT-STEP.");
    fields("path", self.path, "Directory of the checkpoint.");
    fields("step", self.step, "Step of the checkpoint.");
    fields("bytes", self.bytes, "Size of all its files.");
    fields("files", self.files, "All files of the checkpoint.");
  }
};

struct StoredContext {
  static constexpr Schema schema{"StoredContext", "A context that the daemon has."};
  std::string context{};
  std::uint64_t bytes = 0;

  static void list_fields(auto& fields, auto& self) {
    fields("context", self.context, "SHA-256 of the archive.");
    fields("bytes", self.bytes, "Size of the archive.");
  }
};

}  // namespace hpsearch::api
