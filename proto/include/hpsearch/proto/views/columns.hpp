#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/experiment/experiment_record.hpp"
#include "hpsearch/engine/space/formula.hpp"
#include "hpsearch/proto/views/metric_names.hpp"
#include "hpsearch/proto/views/trial_fields.hpp"

namespace hpsearch::views {

/// The requested columns and trials, as in the query.
struct ColumnsQuery {
  std::string fields;        ///< Names separated by commas; "" = the default ones.
  std::string where;         ///< A condition (docs/conditions.md); "" = all trials.
  std::uint32_t states = 0;  ///< Only trials in these states: bit n is TrialState n; 0 = all states.
  std::uint64_t sample = 0;  ///< The maximum number of rows; 0 = all.
  std::optional<engine::Units> length;  ///< The length of results; by default compared_length() chooses it.
  bool only_hparams = false;  ///< In place of `fields`: each leaf of the space that varies, in its order.
};

/// The type of a column's numbers. Hyperparameters and metrics are exact: integers are i64, others
/// are f64.
enum class ColumnType : std::uint8_t { f64, i64, u32, u16, u8 };

/// Columns of trials at one moment.
struct Columns {
  struct Column {
    std::string name;
    ColumnType type = ColumnType::f64;
    bool has_words = false;
    std::vector<std::string> words;  ///< In JSON. The numbers of a column with words are indices of these.
    std::vector<double> numbers;     ///< By row; NaN = missing.
    std::map<std::size_t, std::int64_t> integers;  ///< By row: integers that a double may have rounded.

    /// The number of a row that isn't missing, in an i64 column. O(log n).
    [[nodiscard]] std::int64_t integer(std::size_t row) const;
  };
  engine::Lsn lsn;
  std::uint64_t total = 0;  ///< All trials, with those that aren't in the answer.
  std::uint64_t rows = 0;
  std::optional<engine::Units> length;           ///< The length of the column `result`, if there is one.
  std::vector<ComparedResults::Length> lengths;  ///< The lengths that have results.
  std::vector<std::string> terms;                ///< Formula::terms() of the condition, if there is one.
  std::vector<Column> columns;
};

/// Reads the columns of an experiment in pieces. The experiment may change between them: at the end, the
/// trials that changed meanwhile are read again, so that all rows are from the moment of the end.
///
/// Threads: the engine's. Cost: O(fields) per trial.
class ColumnScan {
 public:
  /// bad_request: a field or the condition is wrong. `metrics` outlives the scan and sees each event before
  /// changed() names its trial.
  [[nodiscard]] static engine::Result<ColumnScan> begin(const engine::ExperimentRecord& experiment,
                                                        const MetricNames& metrics, const ColumnsQuery& query,
                                                        engine::Instant now);

  /// Reads trials until about `cells` fields have been read; false when all are read.
  bool read_some(const engine::ExperimentRecord& experiment, std::size_t cells);
  /// The trial has changed.
  void changed(engine::TrialNumber trial) { changed_.insert(trial.number()); }
  /// The number of changed trials that must be read again.
  [[nodiscard]] std::size_t stale() const noexcept { return changed_.size(); }
  /// After read_some() returned false, and in the same moment. O(trials that changed).
  void finish(const engine::ExperimentRecord& experiment, engine::Lsn lsn);
  /// The result, after finish(), once. Any thread may call it. O(rows log rows) for a sample.
  [[nodiscard]] Columns take();

 private:
  struct Wanted {
    TrialField field;
    ColumnType type = ColumnType::f64;
    bool is_hidden = false;  ///< Only the choice of a sample uses it.
    bool has_words = false;
  };

  ColumnScan(const MetricNames& metrics, engine::Instant now, std::optional<engine::Units> length)
      : metrics_(&metrics), reader_(now, length) {}
  void read(const engine::ExperimentRecord& experiment, std::size_t trial);
  [[nodiscard]] bool is_included(const engine::ExperimentRecord& experiment, std::size_t trial);
  [[nodiscard]] double code_of(std::size_t column, const engine::Value& value);
  [[nodiscard]] std::vector<std::size_t> chosen() const;

  const MetricNames* metrics_;
  TrialReader reader_;
  std::optional<engine::Formula> filter_;
  std::map<std::size_t, TrialField> filter_fields_;  // By the index of their names in the condition.
  std::uint32_t states_ = 0;
  std::uint64_t sample_ = 0;
  std::vector<Wanted> wanted_;
  std::vector<std::vector<double>> numbers_;                   // By column, by trial.
  std::vector<std::map<std::size_t, std::int64_t>> integers_;  // By column, by trial: those above 2^53.
  std::vector<std::vector<std::string>> words_;
  std::vector<std::map<std::string, std::size_t>> codes_;  // By column: the codes of the words so far.
  std::vector<bool> included_;
  std::set<std::uint64_t> changed_;
  std::size_t next_ = 0;
  engine::Lsn lsn_;
  bool smaller_is_better_ = true;
  std::vector<engine::TrialTally::Rung> lengths_;
  std::optional<engine::Units> length_;
  std::vector<ComparedResults::Length> compared_;
};

/// {"lsn", "rows", "total", "terms", "length", "lengths": [{"length", "results"}], "fields": [{"name",
/// "type", "words"?}], "columns": [[…], …]}; missing is null.
[[nodiscard]] std::string to_json(const Columns& columns);

/// The media type of to_bytes().
inline constexpr std::string_view columns_type = "application/vnd.hpsearch.columns";
/// Rows of one piece of to_bytes().
inline constexpr std::size_t chunk_rows = 16'384;

/// A line of JSON, padded with spaces so that the next byte is at a multiple of 8: lsn,
/// rows, total, chunk_rows, terms, length, lengths and fields as in to_json(). Then for each chunk of rows
/// and each field an array of numbers, little-endian, padded with zeros to a multiple of 8 bytes.
/// Missing is NaN; in i64 the least integer; in other integers all bits set.
[[nodiscard]] std::string to_bytes(const Columns& columns);

}  // namespace hpsearch::views
