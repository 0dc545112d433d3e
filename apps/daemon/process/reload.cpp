#include <utility>

#include "daemon/process/daemon_process.hpp"
#include "hpsearch/io/net/log.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Status;
using net::Level;

}  // namespace

void DaemonProcess::reload() {
  service_.reloading();
  ReloadedOptions again = daemon::reload(options_);
  const configuration::RereadSentences& said = again.sentences;
  if (!said.problem.empty()) {
    net::log(Level::error, said.problem);
  } else {
    options_ = std::move(again.options);
    net::set_log_level(options_.log_level);
    net::set_log_format(options_.log_format);
    runtime_->set_patience(patience());
    lost_workers_->forget_after(forget_after());
    kept_->limit_to(kept_limits());
    if (scheduled_backups_) {
      scheduled_backups_->follow(backup_plan());
    }
    net::log(Level::info,
             said.changed.empty() ? "the configuration was read again: no value changed" : said.changed);
    if (!said.need_restart.empty()) {
      net::log(Level::warning, said.need_restart);
    }
  }
  reload_certificate();
  if (const Status read = tokens_->reload(); !read) {
    net::log(Level::error, read.error().message + "; the tokens stay as they were");
  }
  if (const Status read = read_sign_in(); !read) {
    net::log(Level::error, read.error().message + "; provider and roles stay as they were");
  }
  reload_receivers();
  say_ready();
}

}  // namespace hpsearch::daemon
