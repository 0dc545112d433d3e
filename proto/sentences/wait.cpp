#include "hpsearch/proto/sentences/wait.hpp"

#include <variant>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

/// "3 d 4 h", "25 s", rounded up.
std::string long_time_text(engine::Duration time) {
  constexpr std::int64_t micros_of_hour = std::int64_t{3'600} * 1'000'000;
  if (time.in_micros() < micros_of_hour) {
    return seconds_text(time);
  }
  const std::int64_t hours = (time.in_micros() + micros_of_hour - 1) / micros_of_hour;
  return (hours < 24 ? "" : std::to_string(hours / 24) + " d ") + std::to_string(hours % 24) + " h";
}

/// "41 min", "25 s", "3 h 5 min", rounded up.
std::string minutes_text(engine::Duration time) {
  const std::int64_t seconds = (time.in_micros() + 999'999) / 1'000'000;
  if (seconds < 120) {
    return std::to_string(seconds) + " s";
  }
  const std::int64_t minutes = (seconds + 59) / 60;
  return (minutes < 120 ? "" : std::to_string(minutes / 60) + " h ") +
         std::to_string(minutes < 120 ? minutes : minutes % 60) + " min";
}

/// One sentence per cause.
struct WhyTrialWaits {
  Language language;

  template <class... Values>
  [[nodiscard]] std::string say(Phrase<sizeof...(Values)> phrase, const Values&... values) const {
    return sentences::say(language, phrase, values...);
  }
  [[nodiscard]] std::string slots(std::uint64_t number) const {
    return counted(number, nouns::slot, language);
  }
  [[nodiscard]] std::string trials(std::uint64_t number) const {
    return counted(number, nouns::trial, language);
  }

  /// " in resource pool \"big\" with label gpu=h200", after the noun in English and before it in Chinese; ""
  /// for every worker.
  [[nodiscard]] std::string of_these(const std::optional<engine::WantedWorkers>& wanted) const {
    if (!wanted) {
      return "";
    }
    std::string labels;
    for (const auto& [key, value] : wanted->labels) {
      labels += (labels.empty() ? "" : say({" and ", " 和 "})) + key + "=" + value;
    }
    return labels.empty() ? say({" in resource pool \"{0}\"", "资源池“{0}”中的"}, wanted->pool)
                          : say({" in resource pool \"{0}\" with label {1}", "资源池“{0}”中带标签 {1} 的"},
                                wanted->pool, labels);
  }

  /// "2 of 4 slots are free"
  [[nodiscard]] std::string free_text(std::uint64_t free, std::uint64_t total,
                                      const std::optional<engine::WantedWorkers>& wanted) const {
    return say(total == 1 ? Phrase<3>{"{0} of {1} slot{2} is free", "{2}槽位共 {1} 个，空闲 {0} 个"}
                          : Phrase<3>{"{0} of {1} slots{2} are free", "{2}槽位共 {1} 个，空闲 {0} 个"},
               free, total, of_these(wanted));
  }

  /// ", 2 in use by search lr (process 12)"
  [[nodiscard]] std::string taken_text(const std::vector<engine::TakenSlots>& taken) const {
    constexpr std::size_t most = 4;
    std::string text;
    for (std::size_t i = 0; i < taken.size() && i < most; ++i) {
      text += say({", {0} {1}", "，{0} 个{1}"}, taken[i].slots, stored_in(language, taken[i].why));
    }
    return text + (taken.size() > most
                       ? say({" and others (hpsearch workers shows all)", "等（hpsearch workers 显示全部）"})
                       : "");
  }

  [[nodiscard]] std::string too_large_text(const engine::TooLargeForOneWorker& trial) const {
    return trial.largest < trial.slots_per_trial
               ? say({"a trial needs {0}, and no worker{1} has more than {2}",
                      "一个试验需要 {0}，而没有{1}工作节点的槽位多于 {2} 个"},
                     slots(trial.slots_per_trial), of_these(trial.wanted), trial.largest)
               : say({"a trial needs {0}, and no worker{1} has {2} usable ones (hpsearch workers shows the "
                      "reasons)",
                      "一个试验需要 {0}，而没有{1}工作节点有 {2} 个可用的槽位（原因见 hpsearch workers）"},
                     slots(trial.slots_per_trial), of_these(trial.wanted), trial.slots_per_trial);
  }

  std::string operator()(const engine::WaitForResume& /*wait*/) const {
    return say({"the experiment is paused", "实验已暂停"});
  }

  std::string operator()(const engine::WaitForConcurrency& wait) const {
    std::string text =
        say(wait.running == 1 ? Phrase<1>{"{0} of this experiment is running", "此实验有 {0}正在运行"}
                              : Phrase<1>{"{0} of this experiment are running", "此实验有 {0}正在运行"},
            trials(wait.running));
    if (wait.delayed > 0) {
      text += say(wait.delayed == 1 ? Phrase<1>{", {0} waits for a retry", "，{0} 个等待重试"}
                                    : Phrase<1>{", {0} wait for a retry", "，{0} 个等待重试"},
                  wait.delayed);
    }
    if (!wait.limit.slots) {
      return text + say({", and max_concurrent_trials is {0}", "，而 max_concurrent_trials 为 {0}"},
                        wait.limit.trials);
    }
    return text + say({", and max_concurrent_trials is 0, which allows {0} on the {1} of its workers",
                       "，而 max_concurrent_trials 为 0，即其工作节点的 {1}上最多 {0}"},
                      trials(wait.limit.trials), slots(*wait.limit.slots));
  }

  std::string operator()(const engine::WaitForFirstReport& wait) const {
    const std::string begun = wait.failed == 0
                                  ? say({"the first attempts have only just started", "首批尝试刚刚开始"})
                                  : say({"{0} failed in the same way ({1})", "{0}以相同方式失败（{1}）"},
                                        trials(wait.failed), stored_in(language, wait.why));
    return wait.remaining == engine::Duration{}
               ? say({"{0}; until one reports something, no more than {1} are started",
                      "{0}；在其中之一有报告之前，最多启动 {1} 个"},
                     begun, wait.most)
               : say({"{0}; until one measures the metric at a second step, or for another {2}, no more than "
                      "{1} are started",
                      "{0}；在其中之一于第二步测得指标之前，或在接下来的 {2} 内，最多启动 {1} 个"},
                     begun, wait.most, seconds_text(wait.remaining));
  }

  std::string operator()(const engine::WaitForMaxSlots& wait) const {
    return say({"this experiment uses {0}, a trial needs {1}, and max_slots is {2}",
                "此实验使用 {0}，一个试验需要 {1} 个，而 max_slots 为 {2}"},
               slots(wait.used), wait.slots_per_trial, wait.max_slots);
  }

  std::string operator()(const engine::WaitForQuota& wait) const {
    if (!wait.per_user) {
      return say({"workspace \"{0}\" uses {1}, a trial needs {2}, and the quota is {3} (max_slots)",
                  "工作区“{0}”使用 {1}，一个试验需要 {2} 个，而配额为 {3}（max_slots）"},
                 wait.workspace, slots(wait.used), wait.slots_per_trial, wait.most);
    }
    const std::string user = wait.user.empty() ? say({"users without a name use", "未命名的用户"})
                                               : say({"{0} uses", "{0} "}, wait.user);
    return say(
        {"{0} {1} of workspace \"{2}\", a trial needs {3}, and the quota is {4} for each user "
         "(max_slots_per_user)",
         "{0}使用工作区“{2}”的 {1}，一个试验需要 {3} 个，而每个用户的配额为 {4}（max_slots_per_user）"},
        user, slots(wait.used), wait.workspace, wait.slots_per_trial, wait.most);
  }

  std::string operator()(const engine::WaitForSlotHours& wait) const {
    const std::string until =
        wait.remaining == engine::Duration{}
            ? say({"until it is raised", "在提高配额之前没有试验开始"})
            : say({"for the next {0} unless it is raised", "除非提高配额，接下来的 {0} 内没有试验开始"},
                  long_time_text(wait.remaining));
    return say({"workspace \"{0}\" has used {1} slot hours in the last 30 days, and the quota is {2} "
                "(slot_hours_per_30d); no trial starts {3}",
                "工作区“{0}”在最近 30 天使用了 {1} 槽位小时，而配额为 {2}（slot_hours_per_30d）；{3}"},
               wait.workspace, engine::short_number(wait.used.in_seconds() / 3'600), wait.most, until);
  }

  std::string operator()(const engine::WaitForRestingWorkers& wait) const {
    return say({"the last attempts failed to start on every worker (hpsearch workers shows the reasons); the "
                "next attempt starts in {0}",
                "最近的尝试在每个工作节点上都未能启动（原因见 hpsearch workers）；下一次尝试在 {0} 后开始"},
               seconds_text(wait.remaining));
  }

  std::string operator()(const engine::WaitForWorker& wait) const {
    return wait.wanted ? say({"no worker{0} is connected (hpsearch workers lists all workers)",
                              "没有{0}工作节点连接（hpsearch workers 列出所有工作节点）"},
                             of_these(wait.wanted))
                       : say({"no worker is connected", "没有工作节点连接"});
  }

  std::string operator()(const engine::WaitForRelease& wait) const {
    const std::string these = of_these(wait.wanted);
    if (wait.draining == 0) {
      return say({"every worker{0} is in quarantine (hpsearch workers shows the reasons, hpsearch release "
                  "ends the quarantine)",
                  "{0}每个工作节点都已隔离（原因见 hpsearch workers，hpsearch release 解除隔离）"},
                 these);
    }
    return say(
        wait.quarantined > 0
            ? Phrase<1>{"every worker{0} is draining or in quarantine (hpsearch workers shows them, hpsearch "
                        "release lets a worker get trials again)",
                        "{0}每个工作节点都正在排空或已隔离（见 hpsearch workers，hpsearch release "
                        "让工作节点重新接受试验）"}
            : Phrase<1>{"every worker{0} is draining (hpsearch workers shows them, hpsearch release lets a "
                        "worker get trials again)",
                        "{0}每个工作节点都正在排空（见 hpsearch workers，hpsearch release "
                        "让工作节点重新接受试验）"},
        these);
  }

  std::string operator()(const engine::WaitForLargerWorker& wait) const {
    return say({"{0}; it cannot use several workers (resources.spans_workers is false)",
                "{0}；它不能使用多个工作节点（resources.spans_workers 为 false）"},
               too_large_text(wait.trial));
  }

  std::string operator()(const engine::WaitForReachableWorkers& wait) const {
    const std::string large = too_large_text(wait.trial);
    return wait.least_workers > 2
               ? say({"{0}; it cannot be split into equal parts on at least {1} workers that can reach each "
                      "other (resources.least_workers, hpsearch-worker --address)",
                      "{0}；它不能平均分到至少 {1} 个可以互相访问的工作节点上（resources.least_workers，"
                      "hpsearch-worker --address）"},
                     large, wait.least_workers)
               : say({"{0}; it cannot be split into equal parts on several workers that can reach each other "
                      "(hpsearch-worker --address)",
                      "{0}；它不能平均分到多个可以互相访问的工作节点上（hpsearch-worker --address）"},
                     large);
  }

  std::string operator()(const engine::WaitForGang& wait) const {
    return say(
        wait.ready == 1
            ? Phrase<4>{"{0}; it waits until {1} workers have {2} each at the same time, and {3} has them "
                        "now; experiments behind it get no slots of these workers",
                        "{0}；它等待 {1} 个工作节点同时各有 {2}，现在有 {3} "
                        "个；排在它后面的实验得不到这些工作节点的槽位"}
            : Phrase<4>{"{0}; it waits until {1} workers have {2} each at the same time, and {3} have them "
                        "now; experiments behind it get no slots of these workers",
                        "{0}；它等待 {1} 个工作节点同时各有 {2}，现在有 {3} "
                        "个；排在它后面的实验得不到这些工作节点的槽位"},
        too_large_text(wait.trial), wait.workers, counted(wait.slots_each, nouns::free_slot, language),
        wait.ready);
  }

  std::string operator()(const engine::WaitForFreeSlots& wait) const {
    std::string text = free_text(wait.free, wait.total, wait.wanted);
    if (wait.out_of_use > 0) {
      text += say({", {0} out of use (hpsearch workers shows the reasons)",
                   "，{0} 个停用（原因见 hpsearch workers）"},
                  wait.out_of_use);
    }
    return text + taken_text(wait.taken) +
           say({", at most {0} on one worker, and a trial needs {1}",
                "，一个工作节点上最多空闲 {0} 个，而一个试验需要 {1} 个"},
               wait.most_on_one_worker, wait.slots_per_trial);
  }

  std::string operator()(const engine::WaitForDevices& wait) const {
    return say({"{0}, but a trial needs {1} on different devices of one worker",
                "{0}，但一个试验需要同一工作节点不同设备上的 {1} 个"},
               free_text(wait.free, wait.total, wait.wanted), wait.slots_per_trial);
  }

  std::string operator()(const engine::WaitForRoomWithoutSlots& wait) const {
    return say({"the workers{0} run {1} without slots, and together they take {2} (--max-unslotted of "
                "hpsearch-worker)",
                "{0}工作节点正在运行 {1}（不占槽位），总共最多接受 {2} 个（hpsearch-worker 的 "
                "--max-unslotted）"},
               of_these(wait.wanted), trials(wait.running), wait.most);
  }

  std::string operator()(const engine::WaitForTime& wait) const {
    const std::string measured =
        wait.attempts == 0
            ? say({"estimated; resources.time_request says it", "估计值；由 resources.time_request 指定"})
            : say({"p90 of {0}", "{0}的 p90"}, counted(wait.attempts, nouns::attempt, language));
    return say({"it needs {0} ({1}), and worker \"{2}\", which lasts longest of those with free slots, takes "
                "trials for {3}",
                "它需要 {0}（{1}），而有空闲槽位的工作节点中持续最久的“{2}”只在接下来的 {3} 内接受试验"},
               minutes_text(wait.needed), measured, wait.worker, minutes_text(wait.left));
  }

  std::string operator()(const engine::WaitForTurn& wait) const {
    return say({"the free slots go to other experiments (this one has priority {0} and weight {1}), or their "
                "workers are suspect or resting",
                "空闲槽位分给其他实验（此实验的优先级为 {0}，权重为 "
                "{1}），或者其工作节点无响应或暂不接受试验"},
               wait.priority, engine::short_number(wait.weight));
  }

  std::string operator()(const engine::WaitForClient& /*wait*/) const {
    return say({"no client asks for trials of this experiment now (POST …/ask)",
                "目前没有客户端请求此实验的试验（POST …/ask）"});
  }

  std::string operator()(const engine::WaitForRetry& wait) const {
    std::string text =
        wait.fruitless == 1
            ? say({"its last attempt ended without a report", "其上一次尝试没有报告就结束"})
            : say({"its last {0} attempts ended without a report", "其最近 {0} 次尝试都没有报告就结束"},
                  wait.fruitless);
    if (!wait.worker.empty()) {
      text += wait.fruitless == 1
                  ? say({" on worker \"{0}\"", "，在工作节点“{0}”上"}, wait.worker)
                  : say({", the last one on worker \"{0}\"", "，最后一次在工作节点“{0}”上"}, wait.worker);
    }
    if (!wait.why.empty()) {
      text += say(colon) + stored_in(language, wait.why);
    }
    return text + say({"; try {0} of {1} starts in {2}", "；第 {0} 次（最多 {1} 次）在 {2} 后开始"},
                      wait.fruitless + 1, engine::most_fruitless_attempts, seconds_text(wait.remaining));
  }
};

}  // namespace

std::string why_trial_waits(const engine::Wait& wait, Language language) {
  return std::visit(WhyTrialWaits{language}, wait);
}

std::string why_experiment_waits(const std::optional<engine::Wait>& wait, Language language) {
  if (!wait) {
    return "";
  }
  std::string why = why_trial_waits(*wait, language);
  const auto* retry = std::get_if<engine::WaitForRetry>(&*wait);
  return retry == nullptr ? why
                          : say(language, {"trial {0}: {1}", "试验 {0}：{1}"}, retry->trial.number(), why);
}

std::string why_worker_rests(const std::optional<engine::WorkerRest>& rest, Language language) {
  return rest ? say(language,
                    {"{0} in a row failed to start there; the next one starts in {1}",
                     "连续 {0}未能在此启动；下一次在 {1} 后开始"},
                    counted(rest->start_failures, nouns::attempt, language), seconds_text(rest->remaining))
              : "";
}

std::string probation_text(const engine::WorkerRecord& worker, engine::Instant now, Language language) {
  if (worker.quarantined.empty() || !worker.probation) {
    return "";
  }
  if (worker.probation->attempt) {
    return say(language, {"one trial runs there now, to show whether the worker works again",
                          "现在有一个试验在此运行，以检验工作节点是否恢复正常"});
  }
  return worker.rests_until > now
             ? say(language, {"one trial starts there in {0}", "{0} 后将有一个试验在此启动"},
                   seconds_text(worker.rests_until - now))
             : say(language, {"the next trial that fits starts there", "下一个合适的试验将在此启动"});
}

}  // namespace hpsearch::sentences
