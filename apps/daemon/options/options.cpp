#include "daemon/options/options.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <utility>

#include "daemon/api/openapi.hpp"
#include "daemon/backup/backup_address.hpp"
#include "daemon/metrics/daemon_metrics.hpp"
#include "daemon/notifications/receivers.hpp"
#include "daemon/options/addresses.hpp"
#include "daemon/sign_on/sign_in_file.hpp"
#include "daemon/store/postgresql/database_url.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/archive/context_files.hpp"
#include "hpsearch/io/arguments/described_options.hpp"
#include "hpsearch/io/configuration/command_line.hpp"
#include "hpsearch/io/files/state_home.hpp"
#include "hpsearch/io/net/rclone.hpp"
#include "hpsearch/io/net/tls.hpp"

namespace hpsearch::daemon {
namespace {

using configuration::Change;
using configuration::Option;
using configuration::Take;

constexpr const char* letters_and_digits = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

bool has_only(const std::string& text, const std::string& characters) {
  return text.find_first_not_of(letters_and_digits + characters) == std::string::npos;
}

std::string check_name(const std::string& name) {
  return !name.empty() && has_only(name, "-_.:") ? "" : "a host name or an IP address";
}

std::string check_base_path(const std::string& path) {
  const bool is_path = path.size() > 1 && path.front() == '/' && path.back() != '/' &&
                       path.find("//") == std::string::npos && !path.starts_with("/api/") &&
                       has_only(path, "-_./") && path.find("/.") == std::string::npos;
  return path.empty() || is_path
             ? ""
             : "a path that begins with / and has letters, digits, -, _, . and /, without / at its end";
}

std::string check_directory(const std::string& path) {
  std::error_code unknown;
  return path.empty() || std::filesystem::is_directory(path, unknown) ? "" : "a directory that exists";
}

std::string check_file(const std::string& path) {
  std::error_code unknown;
  return path.empty() || std::filesystem::is_regular_file(path, unknown) ? "" : "a file that exists";
}

/// "9177" and ":9177" are ports of 127.0.0.1.
Take metrics_address_in(std::string& place) {
  return configuration::Take{
      Take::Kind::scalar, [&place](const std::string& given) {
        std::string address = given.find(':') == std::string::npos ? "127.0.0.1:" + given : given;
        address = address.front() == ':' ? "127.0.0.1" + address : address;
        const std::string port = address.substr(address.rfind(':') + 1);
        const bool is_port = !port.empty() && port.size() <= 5 &&
                             port.find_first_not_of("0123456789") == std::string::npos &&
                             std::stoul(port) <= 65'535;
        if (!given.empty() && (!is_port || address.find("//") != std::string::npos)) {
          return std::string("PORT or HOST:PORT, such as 127.0.0.1:9177");
        }
        place = given.empty() ? "" : address;
        return std::string();
      }};
}

Take groups_in(std::vector<GroupRole>& place) {
  return configuration::Take{Take::Kind::list, [&place](const std::string& text) {
                               auto read = read_group_role(text);
                               if (!read) {
                                 return "GROUP=ROLE, with a group of this machine and viewer, submitter, "
                                        "operator or admin as the role";
                               }
                               place.push_back(*std::move(read));
                               return "";
                             }};
}

Take proxies_in(ProxyPlaces& places) {
  return configuration::Take{Take::Kind::list,
                             [&places](const std::string& text) { return add_proxy_place(places, text); }};
}

std::string check_header(const std::string& name) {
  return name.empty() || is_header_name(name) ? "" : "the name of a header, such as X-Forwarded-User";
}

std::vector<Option> state_options(Options& options) {
  return {
      {.key = "state.directory",
       .flag = "--state-dir",
       .value = "DIR",
       .meaning = "Directory of the store; created if it doesn't exist",
       .usual = "hpsearchd in $HPSEARCH_STATE_HOME, else in $XDG_STATE_HOME/hpsearch, else in .hpsearch",
       .take = configuration::text_in(options.state_dir)},
      {.key = "state.store",
       .flag = "--store",
       .value = "URL",
       .meaning =
           "Keep the store in this PostgreSQL database, postgresql://USER@HOST:PORT/DATABASE; passwords come "
           "from ~/.pgpass or a service file of libpq",
       .usual = "events.db in --state-dir, in SQLite",
       .take = configuration::text_in(options.store)},
      {.key = "state.store_key_file",
       .flag = "--store-key-file",
       .value = "FILE",
       .meaning = "Keep keys, tokens and certificates in --store as well, sealed with this key file, which "
                  "all daemons of the "
                  "store have",
       .take = configuration::text_in(options.store_key_file, check_file),
       .needs = {"state.store"}},
      {.key = "state.standby",
       .flag = "--standby",
       .meaning = "Wait while another daemon has --store, and take it when that daemon ends or dies",
       .take = configuration::on_off_in(options.standby),
       .needs = {"state.store"}},
      {.key = "state.take_over_after",
       .flag = "--take-over-after",
       .value = "SECONDS",
       .meaning = "How long a daemon that has --store shows no sign of life before it counts as dead",
       .usual = "15",
       .take = configuration::seconds_in(options.take_over_after_seconds, 5, 1e6),
       .needs = {"state.store"}},
      {.key = "state.blobs",
       .flag = "--blobs",
       .value = "DIR",
       .meaning = "Keep contexts, kept logs and kept files in this directory, which all daemons of the store "
                  "share; created if it doesn't exist",
       .usual = "contexts and kept in --state-dir",
       .take = configuration::text_in(options.blobs)},
      {.key = "state.allow_network_filesystem",
       .flag = "--allow-network-filesystem",
       .meaning = "Accept a state directory on SMB, 9P, FUSE and similar, if the file system passes a test",
       .take = configuration::on_off_in(options.allow_network_filesystem)},
      {.key = "state.take_over",
       .flag = "--take-over",
       .meaning = "Start although another host's daemon used the state directory in the last 5 minutes, only "
                  "if that "
                  "daemon or host is gone; or take --store from a daemon that has it, which then ends",
       .take = configuration::on_off_in(options.take_over)},
      {.key = "state.forget_secrets",
       .flag = "--forget-secrets",
       .meaning =
           "Start although secrets of stored experiments can't be opened (secrets.key); their trials fail",
       .take = configuration::on_off_in(options.forget_secrets)},
  };
}

std::vector<Option> http_options(Options& options) {
  return {
      {.key = "http.socket",
       .flag = "--http-socket",
       .value = "PATH",
       .meaning = "Unix socket for clients of the daemon's user and root",
       .usual = "api.sock in --state-dir",
       .take = configuration::text_in(options.http_socket)},
      {.key = "http.listen",
       .flag = "--http",
       .value = "HOST:PORT",
       .meaning = "Also serve clients with a token over TCP (hpsearch token); port 0 selects a free port",
       .take = configuration::text_in(options.http)},
      {.key = "http.open",
       .flag = "--http-open",
       .meaning = "Let everyone who reaches --http, a loopback address, do everything without a token",
       .take = configuration::on_off_in(options.http_open),
       .needs = {"http.listen"}},
      {.key = "http.behind_proxy",
       .flag = "--behind-proxy",
       .value = "CIDR",
       .meaning = "Serve --http without TLS, to a proxy in this network alone, which speaks TLS",
       .take = configuration::text_in(options.behind_proxy),
       .needs = {"http.listen"},
       .excludes = {"tls.cert_file"}},
      {.key = "http.base_path",
       .flag = "--http-base-path",
       .value = "/PATH",
       .meaning =
           "Path below which a proxy shows the daemon, such as /hpsearch; pages and sign-in work there",
       .take = configuration::text_in(options.http_base_path, check_base_path)},
      {.key = "tls.cert_file",
       .flag = "--tls-cert",
       .value = "FILE",
       .meaning = "Speak TLS on --http: certificate chain, in PEM; SIGHUP reads the file again",
       .take = configuration::text_in(options.tls_cert),
       .needs = {"tls.key_file", "http.listen"}},
      {.key = "tls.key_file",
       .flag = "--tls-key",
       .value = "FILE",
       .meaning = "Key of --tls-cert, in PEM",
       .take = configuration::text_in(options.tls_key),
       .needs = {"tls.cert_file"}},
      {.key = "tls.self_signed",
       .flag = "--tls-self-signed",
       .meaning =
           "Speak TLS on --http with a certificate that is made once; clients need its fingerprint, or "
           "trust tls.crt of --state-dir",
       .take = configuration::on_off_in(options.tls_self_signed),
       .needs = {"http.listen"},
       .excludes = {"tls.cert_file"}},
      {.key = "tls.names",
       .flag = "--tls-name",
       .value = "NAME",
       .meaning =
           "A name or address of this machine for the certificate of --tls-self-signed, beside its host "
           "name and --http. Can be repeated",
       .take = configuration::list_in(options.tls_names, check_name),
       .needs = {"tls.self_signed"}},
      {.key = "access.groups",
       .flag = "--access-group",
       .value = "GROUP=ROLE",
       .meaning =
           "Let members of this group use --http-socket with that role: viewer, submitter, operator or "
           "admin. Can be repeated",
       .take = groups_in(options.groups),
       .needs = {"http.socket"}},
      {.key = "access.sign_in_file",
       .flag = "--sign-in-file",
       .value = "FILE",
       .meaning =
           "Let people sign in at the OpenID provider in this file, with the roles that it gives to their "
           "groups; SIGHUP reads the file again",
       .take = configuration::text_in(options.sign_in_file, check_file),
       .change = Change::by_hang_up},
      {.key = "access.proxy_header",
       .flag = "--proxy-header",
       .value = "HEADER",
       .meaning =
           "Accept the name in this header, such as X-Forwarded-User, as that of a person whom a proxy in "
           "--proxy has signed in; the roles are those of --sign-in-file",
       .take = configuration::text_in(options.proxy.header, check_header),
       .needs = {"access.proxies", "access.sign_in_file"}},
      {.key = "access.proxy_groups_header",
       .flag = "--proxy-groups-header",
       .value = "HEADER",
       .meaning = "The header with the groups of that person, with commas between them",
       .usual = "X-Forwarded-Groups",
       .take = configuration::text_in(options.proxy.groups_header, check_header),
       .needs = {"access.proxy_header"}},
      {.key = "access.proxies",
       .flag = "--proxy",
       .value = "ADDRESS",
       .meaning =
           "A proxy of --proxy-header: its address or network, or user:NAME for one that uses --http-socket "
           "as that user of this machine. Can be repeated",
       .take = proxies_in(options.proxy.from),
       .needs = {"access.proxy_header"}},
      {.key = "access.audit_reads",
       .flag = "--audit-reads",
       .meaning = "Record in audit.jsonl what clients read, too",
       .take = configuration::on_off_in(options.audit_reads)},
  };
}

std::vector<Option> worker_options(Options& options) {
  return {
      {.key = "workers.listen",
       .flag = "--workers",
       .value = "ADDRESS",
       .meaning =
           "Address for workers: tcp://HOST:PORT for those with an allowed key (hpsearch keys), port 0 "
           "selects a free port; or ipc:///PATH for the daemon's user and root",
       .usual = "workers.sock in --state-dir",
       .take = configuration::text_in(options.workers)},
      {.key = "workers.advertise",
       .flag = "--advertise",
       .value = "HOST[:PORT]",
       .meaning =
           "Where workers of other machines reach the port of --workers, in invites and for queues, as "
           "behind a Service of Kubernetes",
       .usual = "the name of this machine",
       .take = configuration::text_in(options.advertise)},
      {.key = "workers.open",
       .flag = "--workers-open",
       .meaning = "Accept every worker that reaches the TCP port of --workers, without a key and without "
                  "encryption",
       .take = configuration::on_off_in(options.workers_open)},
      {.key = "workers.lost_after",
       .flag = "--lost-after",
       .value = "SECONDS",
       .meaning = "How long a worker may be silent before its trials run elsewhere",
       .usual = "300",
       .take = configuration::seconds_in(options.lost_after_seconds, 1, 1e7),
       .change = Change::by_hang_up},
      {.key = "workers.forget_after",
       .flag = "--forget-after",
       .value = "TIME",
       .meaning =
           "How long a lost worker is listed before it is forgotten and its key removed, such as 12h or "
           "30d",
       .usual = "7d",
       .take = configuration::seconds_in(options.forget_after_seconds, 1, 1e9),
       .change = Change::by_hang_up},
  };
}

std::string check_absolute(const std::string& path) {
  return path.empty() || path.front() == '/' ? "" : "an absolute path";
}

std::string check_backup_place(const std::string& place) {
  const bool is_right = BackupAddress::is_meant(place) ? BackupAddress::read(place, "").has_value()
                                                       : check_absolute(place).empty();
  return is_right ? ""
                  : "an absolute path, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or azure://CONTAINER/PREFIX";
}

std::vector<Option> backup_options(Options& options) {
  return {
      {.key = "backup.to",
       .flag = "--backup-to",
       .value = "PLACE",
       .meaning =
           "Make backups of the store in this directory, on another disk if possible, or in an object store "
           "such as s3://BUCKET/PREFIX, by rclone; it must exist when one is due",
       .take = configuration::text_in(options.backup_to, check_backup_place),
       .change = Change::by_hang_up},
      {.key = "backup.endpoint_url",
       .flag = "--backup-endpoint-url",
       .value = "URL",
       .meaning =
           "Where the object store of --backup-to is reached, if its provider isn't Amazon (MinIO, OSS), "
           "or the account of Azure",
       .take = configuration::text_in(options.backup_endpoint_url),
       .change = Change::by_hang_up,
       .needs = {"backup.to"}},
      {.key = "backup.every",
       .flag = "--backup-every",
       .value = "TIME",
       .meaning = "Time between two backups, such as 6h",
       .usual = "1d",
       .take = configuration::seconds_in(options.backup_every_seconds, 1, 1e9),
       .change = Change::by_hang_up,
       .needs = {"backup.to"}},
      {.key = "backup.keep",
       .flag = "--backup-keep",
       .value = "N",
       .meaning = "How many backups of this store stay; older ones are removed after a new one was checked",
       .usual = "7",
       .take = configuration::integer_in(options.backup_keep, 1, 10'000),
       .change = Change::by_hang_up,
       .needs = {"backup.to"}},
      {.key = "backup.key_file",
       .flag = "--backup-key-file",
       .value = "FILE",
       .meaning = "Key file that seals the keys in backups; a restore needs it, so keep a copy elsewhere",
       .take = configuration::text_in(options.backup_key_file, check_absolute),
       .change = Change::by_hang_up,
       .needs = {"backup.to"}},
      {.key = "backup.no_secrets",
       .flag = "--backup-no-secrets",
       .meaning = "Leave the keys of the state directory out of backups; after a restore, workers and "
                  "clients need new ones",
       .take = configuration::on_off_in(options.backup_no_secrets),
       .change = Change::by_hang_up,
       .needs = {"backup.to"},
       .excludes = {"backup.key_file"}},
  };
}

Take curve_reports_in(std::optional<std::uint64_t>& place) {
  return configuration::Take{
      Take::Kind::text, [&place](const std::string& text) {
        constexpr std::string_view thin = "thin:";
        const std::optional<std::uint64_t> number =
            text.starts_with(thin) ? engine::number_in<std::uint64_t>(text.substr(thin.size()))
                                   : std::nullopt;
        const bool is_right = text == "full" || text == "none" || number.value_or(0) > 0;
        if (!is_right) {
          return "full, thin:N with a number of reports, or none";
        }
        place = text == "none" ? std::optional<std::uint64_t>(0) : number;
        return "";
      }};
}

std::vector<Option> retention_options(Options& options) {
  return {
      {.key = "retention.ended_experiments",
       .flag = "--keep-experiments",
       .value = "TIME",
       .meaning = "How long an experiment is kept after its end, such as 365d; then it is deleted with its "
                  "checkpoints, logs and files, unless it is starred",
       .usual = "for ever",
       .take = configuration::seconds_in(options.keep_experiments_seconds, 1, 1e10),
       .change = Change::by_hang_up},
      {.key = "retention.metrics_of_stopped_trials",
       .flag = "--stopped-curves",
       .value = "full|thin:N|none",
       .meaning =
           "What stays of the curves of trials an hour after they were stopped: all reports, N of them, or "
           "none; those at the lengths where a trial was judged, the best and the last one always stay",
       .usual = "full",
       .take = curve_reports_in(options.stopped_curve_reports),
       .change = Change::by_hang_up},
      {.key = "retention.logs",
       .flag = "--keep-logs",
       .value = "SIZE",
       .meaning =
           "Room for kept logs within --kept-quota, such as 20GiB; those of the experiments that ended first "
           "are removed first",
       .usual = "--kept-quota",
       .take = configuration::bytes_in(options.keep_logs),
       .change = Change::by_hang_up},
  };
}

std::vector<Option> other_options(Options& options) {
  return {
      {.key = "checkpoints.root",
       .flag = "--checkpoint-root",
       .value = "DIR",
       .meaning =
           "Directory for checkpoints of experiments without checkpoint_storage, which this machine and "
           "all workers have at the same path; each worker tries it when it connects",
       .usual = "checkpoints in --state-dir",
       .take = configuration::text_in(options.checkpoint_root)},
      {.key = "limits.context",
       .flag = "--context-limit",
       .value = "MB",
       .meaning = "Largest context of an experiment",
       .usual = "95",
       .take = configuration::integer_in(options.context_limit, 1, context::largest_limit_megabytes)},
      {.key = "limits.kept",
       .flag = "--kept-quota",
       .value = "SIZE",
       .meaning =
           "Room for logs of attempts that have ended and for files that programs left in their working "
           "directories, such as 500MiB or 20GiB; those of ended experiments are removed first",
       .usual = "40GiB",
       .take = configuration::bytes_in(options.kept_quota),
       .change = Change::by_hang_up},
      {.key = "limits.no_kept_files",
       .flag = "--no-kept-files",
       .meaning = "Leave files of programs on their workers; logs are kept",
       .take = configuration::on_off_in(options.no_kept_files),
       .change = Change::by_hang_up},
      {.key = "metrics.listen",
       .flag = "--metrics-listen",
       .value = "[HOST:]PORT",
       .meaning = "Also serve /metrics and /readyz at this address, to anyone who reaches it; without HOST: "
                  "127.0.0.1",
       .take = metrics_address_in(options.metrics_listen)},
      {.key = "metrics.per_experiment",
       .flag = "--metrics-per-experiment",
       .value = "N",
       .meaning =
           "How many of the newest experiments that have not ended have metrics of their own; the others "
           "are summed",
       .usual = "50",
       .take = configuration::integer_in(options.metrics_per_experiment, 0, 1000)},
      {.key = "notifications.file",
       .flag = "--notify",
       .value = "FILE",
       .meaning =
           "Notify those in this file, by webhooks, Slack and mail, of searches that end, fail or pause "
           "themselves, of new best results and of lost workers; SIGHUP reads the file again",
       .take = configuration::text_in(options.notify, check_file),
       .change = Change::by_hang_up},
      {.key = "ui.web_root",
       .flag = "--web-root",
       .value = "DIR",
       .meaning =
           "Serve the pages in this directory instead of the built-in ones; for their development, and "
           "only with --http on a loopback address",
       .take = configuration::text_in(options.web_root, check_directory)},
      {.key = "log.level",
       .flag = "--log-level",
       .value = "LEVEL",
       .meaning = "Minimum log level: debug, info, warning or error",
       .usual = "info",
       .take = configuration::choice_in(options.log_level, {"debug", "info", "warning", "error"}),
       .change = Change::by_hang_up},
      {.key = "log.format",
       .flag = "--log-format",
       .value = "FORMAT",
       .meaning =
           "How lines of the log are written: text, json (one object each), or journald (with priorities)",
       .usual = "journald if systemd's journal reads the log, else text",
       .take = configuration::choice_in(options.log_format, {"text", "json", "journald"}),
       .change = Change::by_hang_up},
  };
}

/// Prints what a start would refuse in the files that the configuration names. False if there is something.
bool check_files(const Options& options) {
  const auto report = [](const std::string& problem) { std::cerr << "hpsearchd: " << problem << std::endl; };
  bool is_right = true;
  if (!options.store.empty()) {
    if (const auto url = DatabaseUrl::read(options.store); !url) {
      report(url.error().message);
      is_right = false;
    }
  }
  if (!options.notify.empty()) {
    if (const auto receivers = read_receivers(options.notify); !receivers) {
      report(receivers.error().message);
      is_right = false;
    }
  }
  if (!options.sign_in_file.empty()) {
    if (const auto file = read_sign_in_file(options.sign_in_file); !file) {
      report(file.error().message);
      is_right = false;
    }
  }
  if (BackupAddress::is_meant(options.backup_to)) {
    if (const auto found = net::find_rclone(); !found) {
      report("backup.to: " + found.error().message);
      is_right = false;
    }
  }
  if (!options.tls_cert.empty()) {
    if (const auto identity = net::TlsIdentity::from_files(options.tls_cert, options.tls_key); !identity) {
      report(identity.error().message);
      is_right = false;
    }
  }
  return is_right;
}

}  // namespace

configuration::Program program_of(Options& options) {
  configuration::Program program{"hpsearchd", {}};
  for (const auto part :
       {state_options, http_options, worker_options, backup_options, retention_options, other_options}) {
    for (Option& option : part(options)) {
      program.options.push_back(std::move(option));
    }
  }
  return program;
}

engine::Problems conflicts_of(const Options& options) {
  engine::Problems problems;
  if (!options.backup_to.empty() && options.backup_key_file.empty() && !options.backup_no_secrets) {
    problems.push_back({"backup.to",
                        "needs backup.key_file, which seals the keys in backups (head -c 32 /dev/urandom | "
                        "base64 > FILE), or backup.no_secrets",
                        ""});
  }
  if (BackupAddress::is_meant(options.backup_to)) {
    if (const auto address = BackupAddress::read(options.backup_to, options.backup_endpoint_url); !address) {
      problems.push_back({"backup.endpoint_url", address.error().message, ""});
    }
  } else if (!options.backup_endpoint_url.empty()) {
    problems.push_back({"backup.endpoint_url",
                        "is for backups in an object store; " + options.backup_to + " is a directory", ""});
  }
  if (!options.backup_to.empty() && !options.store.empty()) {
    problems.push_back({"backup.to",
                        "is for a store in a file; back up a database with its own programs, or by hpsearch "
                        "store backup",
                        ""});
  }
  // The value may have a password, so no message repeats it.
  if (!options.store.empty() && !DatabaseUrl::is_meant(options.store)) {
    problems.push_back(
        {"state.store", "is no address such as postgresql://hpsearch@db.example.org/hpsearch", ""});
  } else if (std::string problem = password_problem(options.store); !problem.empty()) {
    problems.push_back({"state.store", std::move(problem), ""});
  }
  const bool has_tls = options.tls_self_signed || !options.tls_cert.empty();
  if (options.http.empty() || is_on_this_machine(options.http)) {
    return problems;
  }
  const std::string loopback =
      "needs a loopback address for HTTP (127.0.0.1:0), not \"" + options.http + "\": ";
  if (!options.web_root.empty()) {
    problems.push_back({"ui.web_root", loopback + "it is for the development of pages", ""});
  }
  if (options.http_open) {
    problems.push_back({"http.open", loopback + "everyone who reaches it can do everything", ""});
  } else if (!has_tls && options.behind_proxy.empty()) {
    problems.push_back(
        {"http.listen",
         "is \"" + options.http +
             "\", which other machines reach: it needs TLS (--tls-self-signed, or --tls-cert and "
             "--tls-key), or a proxy that speaks TLS (--behind-proxy CIDR)",
         ""});
  }
  return problems;
}

std::variant<Options, Exit> read_options(int argc, const char* const* argv) {
  Options options;
  const configuration::Program program = program_of(options);
  CLI::App app("The hpsearch daemon: stores experiments, schedules their trials on workers, serves HTTP.",
               program.name);
  app.set_version_flag("--version", "hpsearchd " HPSEARCH_VERSION);
  const configuration::Flags flags(app, program);
  app.add_flag_callback(
      "--describe-api",
      [] {
        std::cout << engine::compact_json(api_description()) << std::endl;
        throw CLI::Success();
      },
      "Print the OpenAPI description of the HTTP API, and exit");
  app.add_flag_callback(
      "--describe-metrics",
      [] {
        std::cout << describe_metrics() << std::flush;
        throw CLI::Success();
      },
      "Print what each metric of GET /metrics is, as a table in Markdown, and exit");
  arguments::add_describing_option(app);
  app.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong arguments or configuration, 4 the state directory is in "
      "use, 74 "
      "disk or store failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Exit::ok : Exit::usage;
  }
  options.command_line = flags.taken();
  auto settled =
      configuration::settle(program, options.command_line, [&options] { return conflicts_of(options); });
  if (const int* code = std::get_if<int>(&settled)) {
    return static_cast<Exit>(*code);
  }
  auto& reading = std::get<configuration::Reading>(settled);
  if (options.state_dir.empty()) {
    const auto home = files::StateHome::of_environment();
    if (!home) {
      std::cerr << "hpsearchd: " << home.error().message << std::endl;
      return Exit::usage;
    }
    options.state_dir = home->daemon().string();
    reading.values["state.directory"] = {{options.state_dir}, {}};
  }
  if (options.command_line.wish == configuration::CommandLine::Wish::check && !check_files(options)) {
    return Exit::usage;
  }
  if (configuration::answers(program, options.command_line, reading)) {
    return Exit::ok;
  }
  options.given = std::move(reading.values);
  return options;
}

ReloadedOptions reload(const Options& running) {
  Options read;
  const configuration::Program program = program_of(read);
  ReloadedOptions out{running,
                      configuration::read_again(program, running.command_line, running.given,
                                                [&read] { return conflicts_of(read); }),
                      {}};
  out.sentences = configuration::sentences_of(program, out.reread);
  if (out.reread.problems.empty()) {
    Options changed;
    static_cast<void>(configuration::store(program_of(changed), out.reread.values));
    changed.state_dir = running.state_dir;
    changed.command_line = running.command_line;
    changed.given = out.reread.values;
    out.options = std::move(changed);
  }
  return out;
}

}  // namespace hpsearch::daemon
