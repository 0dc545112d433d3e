#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/workers/core/slot_sharing.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

/// The directory in which the private workers of this user on this machine write which slots they have:
/// $HPSEARCH_SLOT_TABLE, else /tmp/hpsearch-slots-UID.
[[nodiscard]] std::filesystem::path slot_table_directory();

/// The slot table of this user on this machine, as files:
///
///     SLOT@WORKER     the worker has the slot (SlotClaim)
///     ticket@WORKER   the worker waits for slots (SlotTicket)
///     lock            locked while the table is read or changed
///
/// A file counts as long as a process has a lock on it: its worker, and for a busy slot the shim of the
/// attempt, too. So whatever becomes of these processes, the kernel frees what none of them has any more.
///
/// Threads: callers take turns.
/// Fails:   unavailable: the files can't be used; the sentence has the reason.
class SlotTable {
 public:
  /// Makes the directory if it is missing; it must be one that only this user may enter.
  [[nodiscard]] static engine::Result<SlotTable> open(const std::filesystem::path& directory);

  /// No other process reads or changes the table while this exists.
  class Turn {
   public:
    explicit Turn(int lock) noexcept : lock_(lock) {}
    Turn(Turn&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    int lock_;
  };
  /// Nothing: another process has its turn. `patience`: how long to try.
  [[nodiscard]] std::optional<Turn> turn(std::chrono::milliseconds patience = {}) const;

  // --- during a turn ---

  /// Files of dead processes are removed.
  [[nodiscard]] SlotsOfMachine read() const;
  /// Writes it, or writes it anew. This process has a lock on the file from now on.
  [[nodiscard]] engine::Status put(const SlotClaim& claim);
  void remove(const SlotClaim& claim);
  [[nodiscard]] engine::Status put(const SlotTicket& ticket);
  void remove_ticket(const std::string& worker);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  /// The file of a claim.
  [[nodiscard]] std::filesystem::path claim_file(const std::string& slot, const std::string& worker) const;

 private:
  SlotTable(std::filesystem::path directory, Descriptor lock)
      : directory_(std::move(directory)), lock_(std::move(lock)) {}
  [[nodiscard]] engine::Status write(const std::string& name, const std::string& text);
  void remove(const std::string& name);

  std::filesystem::path directory_;
  Descriptor lock_;
  std::map<std::string, Descriptor> files_;  ///< On which this process has locks, by name.
};

/// Locks the files of claims for a shim, which keeps the descriptors as long as its attempt lasts.
/// unavailable: a file was removed, so its slot may be another's.
[[nodiscard]] engine::Result<std::vector<Descriptor>> hold_claims(const std::vector<std::string>& files);

}  // namespace hpsearch::workers
