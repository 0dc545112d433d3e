#include "daemon/core/options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "daemon/api/openapi.hpp"
#include "daemon/metrics/daemon_metrics.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/archive/context_files.hpp"
#include "hpsearch/io/files/state_home.hpp"

namespace hpsearch::daemon {

std::variant<Options, Exit> read_options(int argc, const char* const* argv) {
  Options options;
  CLI::App app("The hpsearch daemon: stores experiments, schedules their trials on workers, serves HTTP.",
               "hpsearchd");
  app.set_version_flag("--version", "hpsearchd " HPSEARCH_VERSION);
  CLI::Option* state_dir = app.add_option("--state-dir", options.state_dir,
                                          "Directory of the store; created if it doesn't exist (default: "
                                          "hpsearchd in $HPSEARCH_STATE_HOME, else "
                                          "in $XDG_STATE_HOME/hpsearch, else in .hpsearch)")
                               ->type_name("DIR");
  CLI::Option* socket =
      app.add_option(
             "--http-socket", options.http_socket,
             "Unix socket for clients of the daemon's user and root (default: api.sock in --state-dir)")
          ->type_name("PATH");
  std::vector<std::string> groups;
  app.add_option("--access-group", groups,
                 "Let members of this group use --http-socket with that role: viewer, submitter, operator or "
                 "admin. Can be repeated")
      ->type_name("GROUP=ROLE")
      ->needs(socket)
      ->check([&options](const std::string& text) {
        auto read = read_group_role(text);
        if (read) {
          options.groups.push_back(*std::move(read));
        }
        return read ? std::string() : read.error().message;
      });
  app.add_option("--http", options.http,
                 "Also serve clients with a token over TCP (hpsearch token); port 0 selects a free port")
      ->type_name("HOST:PORT");
  app.add_flag("--http-open", options.http_open,
               "Let everyone who reaches --http, a loopback address, do everything without a token");
  CLI::Option* certificate =
      app.add_option("--tls-cert", options.tls_cert, "Speak TLS on --http: certificate chain, in PEM")
          ->type_name("FILE");
  CLI::Option* key =
      app.add_option("--tls-key", options.tls_key, "Key of --tls-cert, in PEM")->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
  CLI::Option* self_signed =
      app.add_flag(
             "--tls-self-signed", options.tls_self_signed,
             "Speak TLS on --http with a certificate that is made once; clients need its fingerprint, or "
             "trust tls.crt of --state-dir")
          ->excludes(certificate);
  app.add_option(
         "--tls-name", options.tls_names,
         "A name or address of this machine for the certificate of --tls-self-signed, beside its host "
         "name and --http. Can be repeated")
      ->type_name("NAME")
      ->check([](const std::string& name) {
        const bool is_name = !name.empty() && name.find_first_not_of(
                                                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                  "0123456789.-_:") == std::string::npos;
        return is_name ? std::string() : "\"" + name + "\" must be a host name or an IP address";
      })
      ->needs(self_signed);
  app.add_option("--behind-proxy", options.behind_proxy,
                 "Serve --http without TLS, to a proxy in this network alone, which speaks TLS")
      ->type_name("CIDR")
      ->excludes(certificate);
  app.add_option("--http-base-path", options.http_base_path,
                 "Path below which a proxy shows the daemon, such as /hpsearch; pages and sign-in work there")
      ->type_name("/PATH")
      ->check([](const std::string& path) {
        const bool is_path =
            path.size() > 1 && path.front() == '/' && path.back() != '/' &&
            path.find("//") == std::string::npos && !path.starts_with("/api/") &&
            path.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") ==
                std::string::npos &&
            path.find("/.") == std::string::npos;
        return is_path
                   ? std::string()
                   : "\"" + path +
                         "\" must begin with / and have letters, digits, -, _, . and /, without / at its end";
      });
  app.add_option("--web-root", options.web_root,
                 "Serve the pages in this directory instead of the built-in ones; for their development, and "
                 "only with --http on a loopback address")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  app.add_option(
         "--workers", options.workers,
         "Address for workers: tcp://HOST:PORT for those with an allowed key (hpsearch keys), port 0 selects "
         "a free port; or ipc:///PATH for the daemon's user and root (default: workers.sock in --state-dir)")
      ->type_name("ADDRESS");
  app.add_option(
         "--advertise", options.advertise,
         "Where workers of other machines reach the port of --workers: HOST or HOST:PORT, in invites and for "
         "queues, as behind a Service of Kubernetes (default: the name of this machine)")
      ->type_name("HOST[:PORT]");
  app.add_flag(
      "--workers-open", options.workers_open,
      "Accept every worker that reaches the TCP port of --workers, without a key and without encryption");
  app.add_option(
         "--checkpoint-root", options.checkpoint_root,
         "Directory for checkpoints of experiments without checkpoint_storage, which this machine and all "
         "workers have at the same path; each worker tries it when it connects (default: checkpoints in "
         "--state-dir)")
      ->type_name("DIR");
  app.add_option("--lost-after", options.lost_after_seconds,
                 "How long a worker may be silent before its trials run elsewhere")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 1e7))
      ->type_name("SECONDS");
  app.add_option(
         "--forget-after", options.forget_after_seconds,
         "How long a lost worker is listed before it is forgotten and its key removed, such as 12h or "
         "30d (default: 7d)")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3'600}, {"d", 86'400}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME"))
      ->check(CLI::Range(1.0, 1e9))
      ->type_name("TIME");
  app.add_option("--context-limit", options.context_limit, "Largest context of an experiment")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, context::largest_limit_megabytes))
      ->type_name("MB");
  app.add_option(
         "--kept-quota", options.kept_quota,
         "Room for logs of attempts that have ended and for files that programs left in their working "
         "directories, such as 500MiB or 20GiB; those of ended experiments are removed first (default: "
         "40GiB)")
      ->transform(CLI::AsSizeValue(true))
      ->type_name("SIZE");
  app.add_flag("--no-kept-files", options.no_kept_files,
               "Leave files of programs on their workers; logs are kept");
  app.add_option("--metrics-listen", options.metrics_listen,
                 "Also serve /metrics and /readyz at this address, to anyone who reaches it; without HOST: "
                 "127.0.0.1")
      ->type_name("[HOST:]PORT")
      ->transform([](const std::string& given) {
        std::string address = given.find(':') == std::string::npos ? "127.0.0.1:" + given : given;
        return address.front() == ':' ? "127.0.0.1" + address : address;
      })
      ->check([](const std::string& address) {
        const std::string port = address.substr(address.rfind(':') + 1);
        const bool is_port = !port.empty() && port.size() <= 5 &&
                             port.find_first_not_of("0123456789") == std::string::npos &&
                             std::stoul(port) <= 65'535;
        return is_port && address.find("//") == std::string::npos
                   ? std::string()
                   : "\"" + address + "\" must be PORT or HOST:PORT, such as 127.0.0.1:9177";
      });
  app.add_option(
         "--metrics-per-experiment", options.metrics_per_experiment,
         "How many of the newest experiments that have not ended have metrics of their own; the others "
         "are summed")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1000}))
      ->type_name("N");
  app.add_option(
         "--notify", options.notify,
         "Notify those in this file, by webhooks, Slack and mail, of searches that end, fail or pause "
         "themselves, of new best results and of lost workers")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_flag("--audit-reads", options.audit_reads, "Record in audit.jsonl what clients read, too");
  app.add_flag("--allow-network-filesystem", options.allow_network_filesystem,
               "Accept a state directory on SMB, 9P, FUSE and similar, if the file system passes a test");
  app.add_flag("--take-over", options.take_over,
               "Start although another host's daemon used the state directory in the last 5 minutes; only if "
               "that daemon or host is gone");
  app.add_flag(
      "--forget-secrets", options.forget_secrets,
      "Start although secrets of stored experiments can't be opened (secrets.key); their trials fail");
  app.add_option("--log-level", options.log_level, "Minimum log level")
      ->capture_default_str()
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
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
  app.footer(
      "Exit codes: 0 success, 1 failure, 2 wrong arguments, 4 the state directory is in use, 74 disk or "
      "store failed.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Exit::ok : Exit::usage;
  }
  if (state_dir->count() == 0) {
    const auto home = files::StateHome::of_environment();
    if (!home) {
      std::cerr << "hpsearchd: " << home.error().message << std::endl;
      return Exit::usage;
    }
    options.state_dir = home->daemon().string();
  }
  return options;
}

}  // namespace hpsearch::daemon
