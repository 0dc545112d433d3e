#pragma once

#include <functional>
#include <memory>
#include <string>

#include "daemon/store/event_store.hpp"
#include "daemon/store/postgresql/database_url.hpp"

namespace hpsearch::daemon {

/// Without a sign of life for that long, a daemon counts as dead unless other values are given.
inline constexpr int holder_counts_for_seconds = 15;

/// The daemon that opens a store in a database.
struct StoreHolder {
  std::string name;  ///< For people, such as "hpsearchd on host a, process 7".
  std::string
      place;  ///< Identifies its state directory, whose lock it has: no other process is at this place.
  bool take_over = false;  ///< Take the store from a daemon that still shows signs of life.
  bool standby = false;    ///< Wait until no other daemon has the store, however long it takes.
  /// Without a sign of life for that long, by the database's clock, a daemon counts as dead.
  engine::Duration counts_for = engine::Duration::seconds(holder_counts_for_seconds);
};

/// An EventStore in a PostgreSQL database, which any number of daemons reach and one has.
///
/// The store's epoch is the number of the daemon's start. Each commit is one transaction that checks it:
/// after another daemon has raised it, this one can never append again.
///
/// Owns:    two connections; the thread of its heartbeat.
/// Fails:   in addition to EventStore: unavailable from append(): the database can't be reached, and the same
///          group may be given again; wrong_state: another daemon has taken the store over.
class PostgresqlStore final : public EventStore {
 public:
  /// Called about once a second while open() waits, with the reason.
  using Waiting = std::function<void(const std::string& why)>;

  /// Creates the tables if there are none, and takes the store. If another daemon seems to have it, waits for
  /// its next sign of life: wrong_state: it lives. Without one it counts as dead. A standby waits on, also
  /// while the database is away. version_mismatch: another format; unavailable: the database can't be
  /// reached; bad_request, not_found: as Connection.
  [[nodiscard]] static engine::Result<std::unique_ptr<PostgresqlStore>> open(const DatabaseUrl& url,
                                                                             const StoreHolder& holder,
                                                                             const Waiting& waiting = {});
  /// Gives the store up, so that another daemon needn't wait.
  ~PostgresqlStore() override;

  [[nodiscard]] std::uint64_t cluster() const noexcept override;
  [[nodiscard]] std::uint64_t daemon_epoch() const noexcept override;
  engine::Status recover(const Visit& visit) override;
  engine::Status append(std::span<const engine::Event> group) override;
  [[nodiscard]] engine::Lsn last_lsn() const noexcept override;
  [[nodiscard]] engine::Lsn stored_lsn() const override;
  [[nodiscard]] engine::Status check_ours() const override;
  [[nodiscard]] engine::Result<std::vector<engine::Event>> read(engine::Lsn after,
                                                                std::size_t limit) override;
  [[nodiscard]] engine::Result<std::vector<engine::Event>> history(engine::ExperimentId experiment,
                                                                   engine::TrialNumber trial) override;
  [[nodiscard]] engine::Result<std::vector<MetricPoint>> metrics(engine::ExperimentId experiment,
                                                                 engine::TrialNumber trial,
                                                                 MetricPosition after,
                                                                 std::size_t enough_numbers) override;
  [[nodiscard]] engine::Result<CurvePage> curves(engine::ExperimentId experiment, const std::string& metric,
                                                 CurvePosition after, engine::TrialNumber last,
                                                 std::size_t most_reports) override;

 private:
  struct Impl;
  explicit PostgresqlStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::daemon
