#include <algorithm>

#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "daemon/notifications/delivery.hpp"
#include "daemon/notifications/receivers.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

daemon::Notification test_notification(const std::string& pages) {
  daemon::Notification one;
  one.occasion = daemon::Occasion::test;
  one.at = seconds_now();
  one.id = "test-" + std::to_string(static_cast<std::int64_t>(one.at * 1e6));
  one.text = "this is a test of hpsearch's notifications";
  one.link = pages;
  return one;
}

}  // namespace

int notify(const NotifyOptions& options, const Output& output) {
  const auto receivers = daemon::read_receivers(options.file);
  if (!receivers) {
    return output.fail(usage_failure(receivers.error().message));
  }
  const auto is_meant = [&](const daemon::Receiver& receiver) {
    return options.receiver.empty() || receiver.name == options.receiver;
  };
  if (std::none_of(receivers->list.begin(), receivers->list.end(), is_meant)) {
    return output.fail(
        usage_failure(options.file + " has no receiver \"" + printable(options.receiver) + "\""));
  }
  const daemon::Notification notification = test_notification(receivers->pages);
  Value::List answers;
  Table table({{"receiver"}, {"result"}});
  bool all = true;
  for (const daemon::Receiver& receiver : receivers->list) {
    if (!is_meant(receiver)) {
      continue;
    }
    const engine::Status delivered = daemon::deliver(notification, receiver, receivers->sendmail);
    const std::string problem = delivered ? "" : delivered.error().message;
    all = all && problem.empty();
    table.add({receiver.name, problem.empty() ? "notified" : problem});
    answers.emplace_back(Value::Map{{"receiver", receiver.name}, {"problem", problem}});
  }
  if (output.json()) {
    output.data(Value::Map{{"receivers", std::move(answers)}});
  } else {
    output.print(table.text());
  }
  return static_cast<int>(all ? Exit::ok : Exit::failed);
}

}  // namespace hpsearch::cli
