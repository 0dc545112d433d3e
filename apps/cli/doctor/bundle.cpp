#include "cli/doctor/bundle.hpp"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "cli/admin/store_place.hpp"
#include "cli/client/answers.hpp"
#include "cli/client/state_directory.hpp"
#include "cli/doctor/masked.hpp"
#include "cli/doctor/observe.hpp"
#include "cli/experiment/known_searchers.hpp"
#include "cli/render/text.hpp"
#include "daemon/store/tools/store_check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/archive/text_archive.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/io/files/file_bytes.hpp"
#include "hpsearch/io/net/run_command.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

constexpr std::chrono::seconds patience{4};
constexpr std::uint64_t most_log_bytes = std::uint64_t{4}
                                         << 20U;  // The end of a log that lines are taken from.
constexpr std::uint64_t most_metrics = std::uint64_t{16} << 20U;
constexpr std::uint64_t largest_checked_store = std::uint64_t{256}
                                                << 20U;  // Reading a larger one takes long.

std::string versions_of(const Facts& facts) {
  std::string text = "hpsearch " + facts.machine.version + "\n";
  if (facts.daemon && facts.daemon->problem.empty()) {
    text += "hpsearchd " + facts.daemon->status.version + "\n";
    for (const api::Worker& worker : facts.daemon->workers) {
      text +=
          "worker " + std::to_string(worker.id.number()) + ": " + worker.version.value_or("unknown") + "\n";
    }
  }
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    text += std::string("kernel ") + kernel.sysname + " " + kernel.release + " " + kernel.version + " " +
            kernel.machine + "\n";
  }
  text += std::string("glibc ") + ::gnu_get_libc_version() + "\n";
  text += "rclone " + (facts.machine.rclone.empty() ? "not installed" : facts.machine.rclone) + "\n";
  text += "Python package " + facts.machine.python_client.value_or("not installed") + "\n";
  return text + "\n" + text_of("/etc/os-release");
}

std::string end_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) {
    return "";
  }
  const auto size = static_cast<std::uint64_t>(in.tellg());
  in.seekg(static_cast<std::streamoff>(size > most_log_bytes ? size - most_log_bytes : 0));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return last_lines(text, bundled_log_lines) + "\n";
}

std::string journal_of(const std::string& unit) {
  const net::CommandAnswer answer = net::run_command({"journalctl", "-q", "--no-pager", "-o", "short-iso",
                                                      "-n", std::to_string(bundled_log_lines), "-u", unit},
                                                     patience);
  return answer.succeeded() ? answer.output : "";
}

/// The summary of hpsearch store verify.
std::string store_summary(const BundleSources& sources) {
  if (!sources.state_dir) {
    return "the state directory is not on this machine, or this user may not read it\n";
  }
  const auto place = find_store(daemon_directory_in(*sources.state_dir).string());
  if (!place) {
    return place.failure().message + "\n";
  }
  std::error_code error;
  if (fs::file_size(place->file, error) > largest_checked_store || error) {
    return "the store is larger than " + bytes_text(largest_checked_store) + "; run hpsearch store verify\n";
  }
  const auto store = open_closed(*place, "stop it and run hpsearch store verify");
  if (!store) {
    return store.failure().message + "\n";
  }
  const daemon::StoreCheck check = daemon::check_store(**store, known_searchers());
  std::string text = std::to_string(check.last.number()) + " of " +
                     std::to_string((*store)->last_lsn().number()) + " events good; " +
                     (check.sound() ? "sound" : "damaged") + "\n";
  for (const std::string& damage : check.damages) {
    text += damage + "\n";
  }
  return text;
}

}  // namespace

Value value_of(const std::vector<CheckedFinding>& findings) {
  Value::List list;
  for (const CheckedFinding& one : findings) {
    list.push_back(Value::Map{{"check", one.check},
                              {"result", name_of(one.finding.verdict)},
                              {"finding", masked(one.finding.finding)},
                              {"remedy", masked(one.finding.remedy)}});
  }
  return Value::Map{{"checks", std::move(list)}, {"worst", name_of(worst_of(findings))}};
}

std::vector<std::pair<std::string, std::string>> bundle_of(const Facts& facts,
                                                           const std::vector<CheckedFinding>& findings,
                                                           const BundleSources& sources) {
  std::vector<std::pair<std::string, std::string>> texts;
  const auto add = [&texts](const std::string& name, std::string text) {
    if (!text.empty()) {
      texts.emplace_back(name, masked(std::move(text)));
    }
  };
  add("findings.json", engine::compact_json(value_of(findings)) + "\n");
  add("versions.txt", versions_of(facts));
  add("mounts.txt", text_of("/proc/self/mountinfo"));
  if (facts.daemon && facts.daemon->configuration) {
    add("configuration.json", engine::compact_json(proto::encode_value(*facts.daemon->configuration)) + "\n");
  }
  if (sources.daemon) {
    if (const auto status = sources.daemon->get("/api/v1/status")) {
      add("status.json", engine::compact_json(*status) + "\n");
    }
    if (const auto metrics = sources.daemon->get_bytes("/metrics", 0, most_metrics)) {
      add("metrics.txt", *metrics);
    }
  }
  add("store.txt", store_summary(sources));
  for (std::size_t i = 0; i < sources.logs.size(); ++i) {
    add("logs/" + std::to_string(i + 1) + "-" + fs::path(sources.logs[i]).filename().string(),
        end_of(sources.logs[i]));
  }
  if (sources.logs.empty()) {
    add("logs/hpsearchd.log", journal_of("hpsearchd"));
    add("logs/hpsearch-worker.log", journal_of("hpsearch-worker"));
  }
  return texts;
}

Outcome<engine::Done> write_bundle(const std::string& file,
                                   const std::vector<std::pair<std::string, std::string>>& texts) {
  const auto packed = files::packed_texts(texts);
  if (!packed) {
    return failure_of(packed.error());
  }
  const files::Descriptor to(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (to.get() < 0 && errno == EEXIST) {
    return conflict_failure("--bundle: " + printable(file) + " is there already; name a new file");
  }
  if (to.get() < 0 || !files::write_all(to.get(), *packed)) {
    return storage_failure("cannot write " + printable(file), errno);
  }
  return engine::Done{};
}

}  // namespace hpsearch::cli
