#include "daemon/store/memory_store.hpp"

#include <algorithm>
#include <limits>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::daemon {

MemoryStore::MemoryStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)), epoch_(++disk_->opened) {
  if (disk_->cluster == 0) {
    disk_->cluster = 0x6d656d6f7279;
  }
}

engine::Status MemoryStore::recover(const Visit& visit) {
  engine::Lsn last;
  std::uint32_t chain = chain_start(disk_->cluster);
  proto::EventDecoder decoder;
  for (const StoredRecord& record : disk_->records) {
    if (auto checked = check_record(record.view(), last, chain); !checked) {
      return checked;
    }
    last = record.lsn;
    chain = record.chain;
    engine::Event event;
    if (auto decoded = decode_record(record.view(), decoder, event); !decoded) {
      return decoded;
    }
    if (auto visited = visit(std::move(event)); !visited) {
      return visited;
    }
  }
  return engine::Done{};
}

engine::Status MemoryStore::append(std::span<const engine::Event> group) {
  auto& records = disk_->records;
  for (const engine::Event& event : group) {
    HPSEARCH_CHECK(event.lsn.number() == last_lsn().number() + 1, "events are appended without gaps");
    const std::uint32_t before = records.empty() ? chain_start(disk_->cluster) : records.back().chain;
    records.push_back(make_record(event, epoch_, before));
  }
  return engine::Done{};
}

engine::Lsn MemoryStore::last_lsn() const noexcept {
  return disk_->records.empty() ? engine::Lsn{} : disk_->records.back().lsn;
}

engine::Result<std::vector<engine::Event>> MemoryStore::read(engine::Lsn after, std::size_t limit) {
  std::vector<engine::Event> events;
  const auto& records = disk_->records;
  proto::EventDecoder decoder;
  for (std::size_t i = after.number(); i < records.size() && events.size() < limit; ++i) {
    if (const auto decoded = decode_record(records[i].view(), decoder, events.emplace_back()); !decoded) {
      return decoded.error();
    }
  }
  return events;
}

engine::Result<std::vector<engine::Event>> MemoryStore::history(engine::ExperimentId experiment,
                                                                engine::TrialNumber trial) {
  std::vector<engine::Event> events;
  proto::EventDecoder decoder;
  for (const StoredRecord& record : disk_->records) {
    engine::Event event;
    if (const auto decoded = decode_record(record.view(), decoder, event); !decoded) {
      return decoded.error();
    }
    if (removes_rows_of(event, experiment, trial)) {
      events.clear();
    }
    if (history_of(event) == TrialPlace{experiment, trial}) {
      events.push_back(std::move(event));
    }
  }
  return events;
}

engine::Result<CurvePage> MemoryStore::curves(engine::ExperimentId experiment, const std::string& metric,
                                              CurvePosition after, engine::TrialNumber last,
                                              std::size_t most_reports) {
  CurvePage page;
  std::size_t looked_at = 0;
  for (engine::TrialNumber trial = after.trial; trial <= last;
       trial = engine::TrialNumber(trial.number() + 1)) {
    const MetricPosition from = trial == after.trial ? after.report : MetricPosition{};
    const auto points = metrics(experiment, trial, from, std::numeric_limits<std::size_t>::max());
    if (!points) {
      return points.error();
    }
    for (const MetricPoint& point : *points) {
      for (const auto& [name, value] : point.metrics) {
        if (name == metric) {
          page.points.push_back({trial, point.attempt, point.step, point.at, value});
        }
      }
      if (++looked_at == most_reports) {
        page.next = CurvePosition{trial, {point.attempt, point.seq}};
        return page;
      }
    }
  }
  return page;
}

engine::Result<std::vector<MetricPoint>> MemoryStore::metrics(engine::ExperimentId experiment,
                                                              engine::TrialNumber trial, MetricPosition after,
                                                              std::size_t enough_numbers) {
  std::vector<MetricPoint> points;
  proto::EventDecoder decoder;
  for (const StoredRecord& record : disk_->records) {
    engine::Event event;
    if (const auto decoded = decode_record(record.view(), decoder, event); !decoded) {
      return decoded.error();
    }
    if (const engine::MetricsReport* report = metrics_in(event)) {
      const auto& taken = *std::get_if<engine::ReportTaken>(&event.body);
      if (taken.key.experiment == experiment && taken.key.trial == trial &&
          std::pair(taken.key.attempt, taken.seq) > std::pair(after.attempt, after.seq)) {
        points.push_back({taken.key.attempt, taken.seq, report->step, report->metrics, event.at});
      }
    }
    if (removes_rows_of(event, experiment, trial)) {
      points.clear();
    }
    const auto* thinned = std::get_if<engine::CurveThinned>(&event.body);
    if (thinned != nullptr && thinned->experiment == experiment && thinned->trial == trial) {
      for (const RemovedReports& row : removed_reports(*thinned)) {
        std::erase_if(points, [&row](const MetricPoint& point) { return row.has(point.attempt, point.seq); });
      }
    }
  }
  std::sort(points.begin(), points.end(), [](const MetricPoint& a, const MetricPoint& b) {
    return std::pair(a.attempt, a.seq) < std::pair(b.attempt, b.seq);
  });
  std::size_t numbers = 0;
  const auto rest = std::find_if(points.begin(), points.end(), [&](const MetricPoint& point) {
    const bool had_enough = numbers >= enough_numbers;
    numbers += point.metrics.size();
    return had_enough;
  });
  points.erase(rest, points.end());
  return points;
}

}  // namespace hpsearch::daemon
