#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "daemon/blobs/files_quota.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"

namespace hpsearch::daemon {

/// What one worker had at the end of an attempt, as far as it is here.
struct StoredFiles {
  engine::AttemptNumber attempt;
  proto::FileOffer offer;  ///< `files`: those that are here, whole. `left`: those that are not.
};

/// The files that programs left in their working directories, for when the workers that keep them are gone:
///
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/list.json    StoredFiles
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/SHA256       content, whole
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/SHA256.part  the beginning of content that is on its way
///
/// A worker offers all that it has of a trial, and sends piece by piece what is missing; offered again then,
/// that becomes the list in one step. Names that programs gave are in the list alone: none of them becomes a
/// path here. All sets together have at most a quota; which have to go, FilesQuota says, and their lists then
/// say that they are on their workers only.
///
/// Threads: on the loop's. Files are read, checked and written beside it, one at a time.
class KeptFiles {
 public:
  using EndedAt = FilesQuota::EndedAt;

  /// Makes the directory if need be and looks at what is in it, beside the loop. A quota of 0 keeps nothing.
  /// `ended_at` is asked on the loop; it and the loop must outlive this.
  KeptFiles(net::Loop& loop, std::string directory, std::uint64_t quota, EndedAt ended_at);
  KeptFiles(const KeptFiles&) = delete;
  KeptFiles& operator=(const KeptFiles&) = delete;

  /// Whether anything is kept at all.
  [[nodiscard]] bool keeps() const noexcept { return quota_.most_bytes() > 0; }

  /// What is missing of an offer: content, and how much of it came before.
  struct Missing {
    std::string digest;
    std::uint64_t bytes = 0;
    std::uint64_t have = 0;
  };
  struct Taken {
    std::vector<Missing> missing;  ///< None: the offer is the list now.
    std::string why_not;           ///< All stays on the worker, as the list says; "" = it does not.
  };
  using OfferAnswer = std::function<void(const engine::Result<Taken>&)>;
  /// The offer of that attempt's worker takes the place of the one before. bad_request: proto::check().
  void offer(const FileSet& set, engine::AttemptNumber attempt, proto::FileOffer offer, OfferAnswer answer);

  /// Puts a piece of content behind what is there; how much that is now. A piece that came before changes
  /// nothing. wrong_state: the offer is not known (any more), bytes before the piece are missing, or the
  /// whole is not what its digest says: offer again. bad_request: more than was offered, or there is no room.
  using PieceAnswer = std::function<void(const engine::Result<std::uint64_t>&)>;
  void add_piece(const FileSet& set, const std::string& digest, std::uint64_t offset, std::string piece,
                 PieceAnswer answer);

  /// Removes what is kept of an experiment that was deleted, after what is being written. What cannot be
  /// removed is logged, and stays until the next start.
  void remove(engine::ExperimentId experiment);

  /// Of all trials of the experiment, by trial and worker.
  struct Summary {
    FileSet set;
    engine::AttemptNumber attempt;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t left = 0;  ///< Files on the worker only.
    std::optional<double> metric{};
  };
  void list(engine::ExperimentId experiment, const std::function<void(const std::vector<Summary>&)>& answer);

  /// The lists of the trial's workers, in the order of their attempts. corrupt: one of them cannot be read.
  using Lists = std::vector<std::pair<engine::WorkerId, StoredFiles>>;
  using ListsAnswer = std::function<void(const engine::Result<Lists>&)>;
  void lists_of(engine::ExperimentId experiment, engine::TrialNumber trial, ListsAnswer answer);

  /// Up to `limit` bytes of the content. not_found: it is not here.
  using ReadAnswer = std::function<void(const engine::Result<std::string>&)>;
  void read(const FileSet& set, const std::string& digest, std::uint64_t offset, std::uint64_t limit,
            ReadAnswer answer);

 private:
  struct Offered {
    engine::AttemptNumber attempt;
    proto::FileOffer offer;
    std::map<std::string, std::uint64_t> bytes;  ///< By digest.
    std::uint64_t number = 0;                    ///< Later ones have higher ones.
  };
  struct Found;
  struct Arriving;

  [[nodiscard]] static Found look_around(const std::string& directory);
  void take(const FileSet& set, engine::AttemptNumber attempt, proto::FileOffer offer,
            const OfferAnswer& answer);
  void make_room(const std::vector<FileSet>& gone);
  void leave_on_worker(const FileSet& set, std::shared_ptr<const Offered> offered,
                       const std::function<void(const engine::Status&)>& then);
  void store(const FileSet& set, std::shared_ptr<const Offered> offered, const OfferAnswer& answer);
  void remember(const FileSet& set, const StoredFiles& stored);

  std::string directory_;
  FilesQuota quota_;
  EndedAt ended_at_;
  std::map<FileSet, Summary> sets_;
  std::map<FileSet, std::shared_ptr<const Offered>> offers_;  ///< Whose content is on its way.
  std::set<FileSet> made_room_;  ///< Of those, the ones that had to go: to offer them again does not help.
  std::uint64_t offers_made_ = 0;
  std::shared_ptr<Arriving> arriving_;  ///< Touched beside the loop only.
  net::Background files_;
};

/// What the list says of a set that had to make room.
inline constexpr const char* no_room_for_files = "there is no room at the daemon (hpsearchd --files-quota)";

}  // namespace hpsearch::daemon
