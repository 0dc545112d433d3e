#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/blobs/kept_quota.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/archive/tar_archive.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/http/http.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/proto/encoding/text_piece.hpp"
#include "hpsearch/proto/wire/file_offer.hpp"

namespace hpsearch::daemon {

/// Logs and files of one trial from one worker.
struct KeptSet {
  engine::ExperimentId experiment;
  engine::TrialNumber trial;
  engine::WorkerId worker;
  friend auto operator<=>(const KeptSet&, const KeptSet&) = default;
};

/// The files of one worker at the end of an attempt.
struct StoredFiles {
  engine::AttemptNumber attempt;
  proto::FileOffer offer;  ///< `files`: those that are stored here completely. `left`: those that are not.
};

/// One stream of one process of an attempt.
struct LogName {
  engine::AttemptKey key;
  engine::WorkerId worker;    ///< The worker where it ran.
  std::uint64_t process = 0;  ///< Number of the process on that worker.
  std::string stream;         ///< "stdout" or "stderr".
};

/// Keeps files that programs left in their working directories, and the output of attempts that have ended
/// (hpsearch/io/archive/kept_log.hpp), so that both can be read when their workers have left:
///
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/list.json                     StoredFiles
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/SHA256                        content of a file, whole
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/SHA256.part                   the beginning of content that is
///   arriving DIRECTORY/EXPERIMENT/TRIAL/WORKER/ATTEMPT.PROCESS.STREAM.zst    a log
///   DIRECTORY/EXPERIMENT/TRIAL/WORKER/ATTEMPT.problem               why the logs of an attempt are missing
///   DIRECTORY/EXPERIMENT/removed                                    highest trial whose logs were removed
///
/// A worker offers all files that it has of a trial, sends the missing content piece by piece, and offers
/// them again: that replaces the list in one step. A log arrives whole. Names that programs chose are only in
/// the list: none of them becomes a path here. Files are durable before they are listed; logs are written
/// without waiting for the disk, and damage is reported.
///
/// Threads: call it on the loop's thread. The disk is read and written beside it: one file at a time, and one
/// log.
class KeptStore {
 public:
  using EndedAt = KeptQuota::EndedAt;
  struct Limits {
    std::uint64_t quota = 0;                                         ///< Bytes of everything that is kept.
    bool files = true;                                               ///< Whether files are kept at all.
    std::uint64_t logs = std::numeric_limits<std::uint64_t>::max();  ///< Bytes of kept logs, a part of them.
  };

  /// Makes the directory if it is missing and counts what is in it, beside the loop. `ended_at` is called on
  /// the loop; it and the loop must outlive this.
  KeptStore(net::Loop& loop, std::string directory, Limits limits, EndedAt ended_at);
  KeptStore(const KeptStore&) = delete;
  KeptStore& operator=(const KeptStore&) = delete;

  using TrialKey = std::pair<engine::ExperimentId, engine::TrialNumber>;
  /// Calls it on the loop with trials whose logs are removed to make room, in the order of experiments.
  void on_logs_removed(std::function<void(const std::vector<TrialKey>&)> report) {
    logs_removed_ = std::move(report);
  }

  /// Other limits from now on; what is beyond them is removed.
  void limit_to(Limits limits);

  /// Removes everything of an experiment that was deleted, after writes in progress. Failures are logged, and
  /// the next start tries again.
  void remove(engine::ExperimentId experiment);

  // ------------------------------------------------------------------------------------------------- files

  [[nodiscard]] bool keeps_files() const noexcept { return limits_.files && limits_.quota > 0; }

  /// Content that an offer names and that is not stored here, and how much of it has arrived.
  struct Missing {
    std::string digest;
    std::uint64_t bytes = 0;
    std::uint64_t have = 0;
  };
  struct Taken {
    std::vector<Missing> missing;  ///< Empty: the offer is the list now.
    std::string why_not;           ///< Why all files stay on the worker, as the list says; "" = they don't.
  };
  using OfferAnswer = std::function<void(const engine::Result<Taken>&)>;
  /// The offer replaces the worker's last one. bad_request: proto::check().
  void offer(const KeptSet& set, engine::AttemptNumber attempt, proto::FileOffer offer, OfferAnswer answer);

  /// Appends a piece to a content; the answer is how much of it is stored now. A piece that arrived before
  /// changes nothing. wrong_state: the content was not offered since the last start, bytes before the piece
  /// are missing, or the whole has another digest: offer again. bad_request: it exceeds the offered size, or
  /// there is no room.
  using PieceAnswer = std::function<void(const engine::Result<std::uint64_t>&)>;
  void add_piece(const KeptSet& set, const std::string& digest, std::uint64_t offset,
                 const net::HttpRequest& piece, PieceAnswer answer);

  /// The kept files of one trial from one worker.
  struct Summary {
    KeptSet set;
    engine::AttemptNumber attempt;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
    std::uint64_t left = 0;  ///< Files that are only on the worker.
    std::optional<double> metric{};
  };
  void list(engine::ExperimentId experiment, const std::function<void(const std::vector<Summary>&)>& answer);

  /// The lists of the trial's workers, in the order of their attempts. corrupt: one of them cannot be read.
  using Lists = std::vector<std::pair<engine::WorkerId, StoredFiles>>;
  using ListsAnswer = std::function<void(const engine::Result<Lists>&)>;
  void lists_of(engine::ExperimentId experiment, engine::TrialNumber trial, ListsAnswer answer);

  /// A file of a trial, and where it is from.
  struct TrialFile {
    engine::WorkerId worker;
    proto::OfferedFile file;
  };
  /// The files of all lists as one tree, by path. If two are in each other's way, that of the later list
  /// counts.
  [[nodiscard]] static std::map<std::string, TrialFile> one_tree(std::span<const Lists::value_type> lists);

  /// All files of a trial as a tar archive: those of each attempt, by path, below `attempt-N`. A link is in
  /// it if its target lies in the same directory. The same files always give the same bytes.
  struct Archive {
    files::TarArchive tar;
    std::string tag;  ///< No other content has it.
  };
  /// not_found: no file of the trial is stored here. corrupt: a list cannot be read, or content has another
  /// size than its list says. Content that has to make room while it is read is missing then: reading fails.
  /// Cost: a few system calls for each file.
  using ArchiveAnswer = std::function<void(engine::Result<Archive>)>;
  void archive(engine::ExperimentId experiment, engine::TrialNumber trial, ArchiveAnswer answer);

  /// Opens the content. It can be read to its end when it has to make room meanwhile. not_found: it is not
  /// stored here.
  using OpenAnswer = std::function<void(engine::Result<files::OpenFile>)>;
  void open(const KeptSet& set, const std::string& digest, OpenAnswer answer);

  // -------------------------------------------------------------------------------------------------- logs

  /// Replaces the log of that name. bad_request: it is not packed as workers do. unavailable: it cannot be
  /// written.
  using Answer = std::function<void(const engine::Status&)>;
  void take_log(LogName name, const net::HttpRequest& packed, Answer answer);

  /// Up to `limit` bytes from `offset` on, or the last ones; if that part was left out, the part after it.
  /// not_found: nothing is kept under that name. corrupt, unavailable: it cannot be read.
  using LogAnswer = std::function<void(const engine::Result<proto::TextPiece>&)>;
  void read_log(LogName name, std::uint64_t offset, std::uint64_t limit, bool from_end, LogAnswer answer);

  /// Records that the worker could not upload its logs of the attempt, until a log of the same attempt and
  /// worker arrives after all.
  void note_log_problem(const engine::AttemptKey& key, engine::WorkerId worker, std::string_view why);
  /// Why no log of the attempt arrived from that worker; "" = no reason is known.
  [[nodiscard]] std::string log_problem_of(const engine::AttemptKey& key, engine::WorkerId worker) const;
  /// The same for the trial's last attempt that has a reason.
  [[nodiscard]] std::string log_problem_of(engine::ExperimentId experiment, engine::TrialNumber trial) const;

  /// Whether logs of the trial were removed to make room.
  [[nodiscard]] bool log_was_removed(engine::ExperimentId experiment, engine::TrialNumber trial) const;

 private:
  /// By label of the attempt.
  using Problems = std::map<std::pair<std::string, engine::WorkerId>, std::string>;
  struct Offered {
    engine::AttemptNumber attempt;
    proto::FileOffer offer;
    std::map<std::string, std::uint64_t> bytes;  ///< By digest.
    std::uint64_t number = 0;                    ///< Later sets have higher numbers.
  };
  struct Found;
  struct Arriving;

  [[nodiscard]] static Found look_around(const std::string& directory);
  void add_found(const Found& found);
  void make_room(const std::vector<KeptItem>& removed);
  void remove_logs(const std::vector<TrialKey>& removed);

  [[nodiscard]] static std::shared_ptr<Arriving> make_arriving();
  void take(const KeptSet& set, engine::AttemptNumber attempt, proto::FileOffer offer,
            const OfferAnswer& answer);
  void leave_on_worker(const KeptSet& set, std::shared_ptr<const Offered> offered, const Answer& then);
  void store(const KeptSet& set, std::shared_ptr<const Offered> offered, const OfferAnswer& answer);
  void remember(const KeptSet& set, const StoredFiles& stored);

  std::string directory_;
  Limits limits_;
  KeptQuota quota_;
  EndedAt ended_at_;
  std::function<void(const std::vector<TrialKey>&)> logs_removed_ = [](const auto&) {};
  std::map<KeptSet, Summary> listed_;
  /// Offers whose content is arriving; nullptr: the set was removed to make room, and offering it again does
  /// not help.
  std::map<KeptSet, std::shared_ptr<const Offered>> offers_;
  std::uint64_t offers_made_ = 0;
  std::shared_ptr<Arriving> arriving_;  ///< Touched beside the loop only.
  std::map<TrialKey, Problems> problems_;
  std::map<engine::ExperimentId, engine::TrialNumber> removed_up_to_;
  net::Background looking_;
  /// Logs and files of a trial share directories, which one task could remove while another fills them: tasks
  /// run one after the other.
  net::Background disk_;
};

/// The reason in the list of a set that was removed to make room.
inline constexpr const char* no_room_for_files = "there is no room at the daemon (hpsearchd --kept-quota)";

}  // namespace hpsearch::daemon
