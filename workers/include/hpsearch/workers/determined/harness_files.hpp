#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/files/directory.hpp"

namespace hpsearch::workers {

/// Data that hpsearch-determined stores with a harness's files in a checkpoint: uuid, steps, metadata.
inline constexpr const char* determined_record_name = "determined.json";

/// The files of one attempt that both a harness and its worker use.
///
///     DIRECTORY/run       /run/determined of the harness
///     DIRECTORY/storage   /determined_shared_fs: UUID/ for each checkpoint, and files for TensorBoard
///     DIRECTORY/root      where its private root is built
///
/// Threads: none of its own.
class HarnessFiles {
 public:
  HarnessFiles(std::filesystem::path directory, std::filesystem::path checkpoint,
               std::filesystem::path output)
      : directory_(std::move(directory)), checkpoint_(std::move(checkpoint)), output_(std::move(output)) {}

  [[nodiscard]] std::filesystem::path run() const { return directory_ / "run"; }
  [[nodiscard]] std::filesystem::path storage() const { return directory_ / "storage"; }
  [[nodiscard]] std::filesystem::path root() const { return directory_ / "root"; }

  /// Makes the directories; `cluster` is the storage's folder for TensorBoard, a link to the outputs.
  engine::Status make(const std::string& cluster) const;

  /// Puts a published checkpoint where the harness looks for it. Returns its record: the one that was stored
  /// with it, or, for the checkpoint of another kind of program, a new one without steps. Null for "".
  engine::Result<engine::Value> lend(const std::filesystem::path& path) const;

  /// Puts the harness's checkpoint `uuid` where the worker looks for the attempt's, with its record. The
  /// harness still sees the newest one; both share their data if the file system can.
  engine::Status take(const std::string& uuid, const engine::Value& record);

  /// A checkpoint of the harness that has files here, or "".
  [[nodiscard]] std::string part_of_a_checkpoint() const;

  /// Removes empty TensorBoard files that a harness left among the outputs.
  void tidy() const;

 private:
  [[nodiscard]] engine::Result<files::Directory> kept_storage() const;

  std::filesystem::path directory_;
  std::filesystem::path checkpoint_;
  std::filesystem::path output_;
  std::string newest_;
};

/// `directory` as a gzipped tar, in base64. unavailable: the program tar is missing, or it failed.
[[nodiscard]] engine::Result<std::string> pack_in_base64(const std::filesystem::path& directory);

[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace hpsearch::workers
