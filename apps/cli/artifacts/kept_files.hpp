#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"

namespace hpsearch::cli {

/// Links of a program that a copy left out because they may lead out of it.
using LinksLeftOut = std::vector<std::string>;

/// Files that programs left in their working directories, as a run's worker keeps them
/// (proto/wire/kept_files.hpp). Programs can write there, so no link in it is followed.
class KeptFiles {
 public:
  struct File {
    std::string path;  ///< Relative to the working directory.
    std::uint64_t bytes = 0;
  };
  struct OfTrial {
    std::vector<File> files;  ///< Sorted by path.
    proto::DroppedFiles dropped;
  };

  /// `store` is the daemon's, from /api/v1/status.
  KeptFiles(const StateDirectory& state, const std::string& store, std::uint64_t experiment);
  /// The server belongs to a run with a worker on this machine; else the daemon keeps the files.
  [[nodiscard]] static bool are_here(const Server& server);
  /// not_found: they are not here.
  [[nodiscard]] static Outcome<KeptFiles> of(const Server& server, std::uint64_t experiment);

  /// By number; empty if nothing was ever kept.
  [[nodiscard]] proto::KeptTrials trials() const;
  [[nodiscard]] OfTrial of_trial(std::uint64_t trial) const;
  /// The path to show to users: below the run's directory if the run has made a link there.
  [[nodiscard]] std::filesystem::path directory(std::uint64_t trial) const;

  /// Copies a trial's files to a new directory.
  [[nodiscard]] Outcome<LinksLeftOut> copy(std::uint64_t trial, const std::filesystem::path& to) const;

  /// Packs them into a new tar archive below `attempt-N`, as the daemon does.
  [[nodiscard]] Outcome<LinksLeftOut> save(std::uint64_t trial, std::uint64_t attempt,
                                           const std::filesystem::path& to) const;

  /// Makes RUN/trials a link to the trials of this experiment; an existing directory of that name stays.
  void link_trials() const;

 private:
  [[nodiscard]] engine::Result<files::Directory> trial_directory(std::uint64_t trial) const;

  std::filesystem::path link_;   ///< RUN/trials
  std::filesystem::path below_;  ///< worker/trials/STORE/EXPERIMENT
  std::filesystem::path root_;   ///< RUN
};

/// "12 files (3.4 MB) of 3 trials in …/trials; not kept: files of 2 trials", or "" if there are no files.
[[nodiscard]] std::string kept_text(const proto::KeptTrials& kept, const std::string& where);

/// Makes the directory, which must not exist, and fills it; removes it if that fails.
[[nodiscard]] Outcome<LinksLeftOut> fill_new_directory(
    const std::filesystem::path& to,
    const std::function<Outcome<LinksLeftOut>(const files::Directory& into)>& fill);

/// Makes the file, which must not exist, and writes it; removes it if that fails.
using WritePiece = std::function<Outcome<engine::Done>(std::string_view)>;
[[nodiscard]] Outcome<engine::Done> fill_new_file(
    const std::filesystem::path& to,
    const std::function<Outcome<engine::Done>(const WritePiece& write)>& fill);

/// Copies a directory that a program wrote to a new one; `name` in `above` is not followed if it is a link.
[[nodiscard]] Outcome<LinksLeftOut> copy_left_directory(const files::Directory& above,
                                                        const std::string& name,
                                                        const std::filesystem::path& to);

/// Prints one line for each.
void print_links_left_out(const LinksLeftOut& links, const Output& output);

}  // namespace hpsearch::cli
