#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/render/output.hpp"
#include "cli/verbs/failure.hpp"
#include "hpsearch/io/files/directory.hpp"
#include "hpsearch/proto/wire/kept_files.hpp"

namespace hpsearch::cli {

/// Links of a program that a copy has left out because they may lead out of it.
using LinksLeftOut = std::vector<std::string>;

/// What a run's worker keeps of the files that programs left in their working directories
/// (proto/wire/kept_files.hpp). Programs can write there: no link in it is followed.
class KeptFiles {
 public:
  struct File {
    std::string path;  ///< In the working directory.
    std::uint64_t bytes = 0;
  };
  struct OfTrial {
    std::vector<File> files;  ///< By path.
    proto::DroppedFiles dropped;
  };

  /// `store` is the daemon's, as /api/v1/status tells it.
  KeptFiles(const StateDirectory& state, const std::string& store, std::uint64_t experiment);
  /// not_found: the server is that of no run, and what programs left is on its workers.
  [[nodiscard]] static Outcome<KeptFiles> of(const Server& server, std::uint64_t experiment);

  /// In order of their numbers; none where nothing was ever kept.
  [[nodiscard]] proto::KeptTrials trials() const;
  [[nodiscard]] OfTrial of_trial(std::uint64_t trial) const;
  /// As people are told it: below the run's directory where the run has made a link there.
  [[nodiscard]] std::filesystem::path directory(std::uint64_t trial) const;

  /// Copies a trial's files to a directory that is not there yet.
  [[nodiscard]] Outcome<LinksLeftOut> copy(std::uint64_t trial, const std::filesystem::path& to) const;

  /// Makes RUN/trials lead to the trials of this experiment; a directory of that name stays.
  void link_trials() const;

 private:
  [[nodiscard]] engine::Result<files::Directory> trial_directory(std::uint64_t trial) const;

  std::filesystem::path link_;   ///< RUN/trials
  std::filesystem::path below_;  ///< worker/trials/STORE/EXPERIMENT
  std::filesystem::path root_;   ///< RUN
};

/// "12 files (3.4 MB) of 3 trials in …/trials; not kept: files of 2 trials", or "" when nothing was left.
[[nodiscard]] std::string kept_text(const proto::KeptTrials& kept, const std::string& where);

/// Makes the directory, which must be free, and fills it; if that fails, nothing is left of it.
[[nodiscard]] Outcome<LinksLeftOut> fill_new_directory(
    const std::filesystem::path& to,
    const std::function<Outcome<LinksLeftOut>(const files::Directory& into)>& fill);

/// Copies a directory that a program wrote to one that is not there yet; `name` in `above` is not followed
/// where it is a link.
[[nodiscard]] Outcome<LinksLeftOut> copy_left_directory(const files::Directory& above,
                                                        const std::string& name,
                                                        const std::filesystem::path& to);

/// One line for each.
void tell_links_left_out(const LinksLeftOut& links, const Output& output);

}  // namespace hpsearch::cli
