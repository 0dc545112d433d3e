#include "hpsearch/proto/sentences/explanation.hpp"

#include <variant>

#include "hpsearch/engine/cluster/worker.hpp"
#include "hpsearch/engine/experiment/trial_record.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/sentences/reason.hpp"
#include "hpsearch/proto/sentences/wait.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

bool is_at_client(const std::vector<engine::NowTrains::Place>& places) {
  return places.size() == 1 && places.front().worker == engine::external_worker_uid;
}

/// "worker \"a\"", or "workers \"a\", \"b\" (gone)" by rank.
std::string places_text(const std::vector<engine::NowTrains::Place>& places, Language language) {
  std::string names;
  for (const engine::NowTrains::Place& place : places) {
    names += names.empty() ? "" : say(language, {", ", "、"});
    names += place.gone ? say(language, {"\"{0}\" (gone)", "“{0}”（已离开）"}, place.worker)
                        : say(language, {"\"{0}\"", "“{0}”"}, place.worker);
  }
  return say(
      language,
      places.size() == 1 ? Phrase<1>{"worker {0}", "工作节点{0}"} : Phrase<1>{"workers {0}", "工作节点{0}"},
      names);
}

/// As the pages name it; in English the word of the API.
Phrase<0> state_phrase(engine::TrialState state) noexcept {
  switch (state) {
    case engine::TrialState::pending:
      return {"PENDING", "等待中"};
    case engine::TrialState::running:
      return {"RUNNING", "运行中"};
    case engine::TrialState::paused:
      return {"PAUSED", "已暂停"};
    case engine::TrialState::completed:
      return {"COMPLETED", "已完成"};
    case engine::TrialState::stopped:
      return {"STOPPED", "已停止"};
    case engine::TrialState::failed:
      return {"FAILED", "失败"};
    case engine::TrialState::canceled:
      return {"CANCELED", "已取消"};
  }
  return {"UNKNOWN", "未知"};
}

/// One sentence for each activity of a trial.
struct NowText {
  const engine::Explanation& explanation;
  std::string_view unit;
  Language language;

  [[nodiscard]] std::string length(engine::Units units) const { return amount(units, unit, language); }
  [[nodiscard]] std::string reason() const { return describe(explanation.reason, unit, language); }

  std::string operator()(const engine::NowTrains& now) const {
    const std::string reached = amount(now.reached, "", language);
    std::string text =
        is_at_client(now.places)
            ? say(language,
                  {"attempt {0} is trained by a client and has reached {1} of {2}",
                   "第 {0} 次尝试由客户端训练，已达到 {1} / {2}"},
                  now.attempt.number(), reached, length(now.length))
            : say(language,
                  {"attempt {0} trains on {3} and has reached {1} of {2}",
                   "第 {0} 次尝试在{3}上训练，已达到 {1} / {2}"},
                  now.attempt.number(), reached, length(now.length), places_text(now.places, language));
    if (now.fruitless > 0) {
      text += say(language,
                  {"; it is try {0} of {1}: the attempts before it ended without a report",
                   "；这是第 {0} 次（最多 {1} 次）：之前的尝试都没有报告就结束"},
                  now.fruitless + 1, engine::most_fruitless_attempts);
    }
    return text;
  }
  std::string operator()(const engine::NowNeedsSlots& now) const {
    const std::string from = amount(now.from, "", language);
    return now.slots == 0
               ? say(language,
                     {"waits for a worker to train from {0} to {1}", "等待工作节点，以便从 {0} 训练到 {1}"},
                     from, length(now.to))
               : say(language, {"waits for {2} to train from {0} to {1}", "等待 {2}，以便从 {0} 训练到 {1}"},
                     from, length(now.to), counted(now.slots, nouns::slot, language));
  }
  std::string operator()(const engine::NowAwaitsResume& now) const {
    return say(language, {"waits at {0} because the experiment is paused", "在 {0} 处等待，因为实验已暂停"},
               length(now.reached));
  }
  std::string operator()(const engine::NowAtRung& now) const {
    return now.reached == now.rung
               ? say(language, {"at {0}: {1}", "在 {0} 处：{1}"}, length(now.reached), reason())
               : say(language, {"at {0} (its rung is at {1}): {2}", "在 {0} 处（其级别在 {1}）：{2}"},
                     length(now.reached), length(now.rung), reason());
  }
  std::string operator()(const engine::NowEnded& now) const {
    return say(language, {"has ended as {0} at {1}: {2}", "已结束（{0}），在 {1} 处：{2}"},
               say(language, state_phrase(now.state)), length(now.reached), reason());
  }
};

/// One sentence for each possible next step of a trial.
struct NextText {
  const engine::Explanation& explanation;
  std::string_view unit;
  Language language;

  std::string operator()(const engine::NextNothing& /*next*/) const { return ""; }
  std::string operator()(const engine::NextDecision& next) const {
    return say(language,
               {"the searcher decides when the trial reports {0} at {1}",
                "试验在 {1} 处报告 {0} 时，搜索器作出决定"},
               next.metric, amount(next.length, unit, language));
  }
  std::string operator()(const engine::NextExit& next) const {
    return say(language,
               next.exceeds_limits
                   ? Phrase<1>{"{0} because the experiment exceeds its limits; it has not exited yet",
                               "{0}，因为实验超出其限制；它尚未退出"}
                   : Phrase<1>{"{0} and has not exited yet", "{0}，但尚未退出"},
               say(language, order_phrase(next.directive)));
  }
  std::string operator()(const engine::NextExitOfLast& /*next*/) const {
    return say(language, {"its last attempt has not exited yet", "其上一次尝试尚未退出"});
  }
  std::string operator()(const engine::NextEndOfExperiment& /*next*/) const {
    return say(language,
               {"the trial ends with its experiment, which is ending", "实验正在结束，试验随之结束"});
  }
  std::string operator()(const engine::NextResume& /*next*/) const {
    return say(language, {"the trial continues when the experiment is resumed", "实验继续时，试验也会继续"});
  }
  std::string operator()(const engine::NextStop& /*next*/) const {
    return say(language, {"the trial is stopped", "试验将被停止"});
  }
  std::string operator()(const engine::NextSlots& next) const { return why_trial_waits(next.wait, language); }
  std::string operator()(const engine::NextPromotion& next) const {
    const std::uint64_t ahead = explanation.ahead.value_or(0);
    const std::string place =
        ahead == 0
            ? say(language, {"gets the next free slot of this experiment", "将获得此实验的下一个空闲槽位"})
            : say(language,
                  {"is number {0} in the queue for free slots of this experiment",
                   "在此实验等待空闲槽位的队列中排第 {0}"},
                  ahead + 1);
    return say(language,
               {"the trial is among the best {0} of {1} and {2}. Waiting: {3}",
                "试验是 {1} 个中最好的 {0} 个之一，{2}。等待中：{3}"},
               explanation.reason.keep.value_or(0), explanation.reason.size.value_or(0), place,
               why_trial_waits(next.wait, language));
  }
  std::string operator()(const engine::NextResults& next) const {
    const std::string standstill = why_experiment_waits(next.wait, language);
    const std::string text =
        say(language,
            {"{0}. When no more results can arrive, the trial is stopped unless it is promoted",
             "{0}。当不再有结果到来时，试验若未晋级就会停止"},
            promotion_text(next.exhausted));
    return standstill.empty()
               ? text
               : text +
                     say(language, {". No results arrive now: {0}", "。现在没有结果到来：{0}"}, standstill);
  }

 private:
  static Phrase<0> order_phrase(engine::Directive directive) noexcept {
    switch (directive) {
      case engine::Directive::kill:
        return {"the attempt is being killed", "正在强制结束该尝试"};
      case engine::Directive::stop:
        return {"the attempt must stop", "该尝试必须停止"};
      case engine::Directive::pause:
        return {"the attempt must pause", "该尝试必须暂停"};
      case engine::Directive::train_on:
        break;  // Then it doesn't exit.
    }
    return {"the attempt must train on", "该尝试必须继续训练"};
  }

  /// When the trial is promoted, or that it cannot be.
  [[nodiscard]] std::string promotion_text(bool exhausted) const {
    const std::uint64_t needed = explanation.results_needed.value_or(0);
    const std::uint64_t to_come = explanation.results_to_come.value_or(0);
    const std::string more = counted(needed, nouns::more_result, language);
    const std::string can_arrive =
        to_come == 0 ? say(language, {"no more can arrive", "不会再有结果到来"})
                     : say(language, {"at most {0} can arrive", "最多还会到来 {0} 个"}, to_come);
    if (needed <= to_come) {
      return say(language,
                 needed == 1 ? Phrase<2>{"the trial is promoted after {0} at its rung if it ranks behind the "
                                         "trial, later if it ranks ahead; {1}",
                                         "如果其级别再有 {0}且名次在该试验之后，试验就会晋级；如果名次在前，"
                                         "则会更晚；{1}"}
                             : Phrase<2>{"the trial is promoted after {0} at its rung if all rank behind the "
                                         "trial, later if some rank ahead; {1}",
                                         "如果其级别再有 {0}且名次都在该试验之后，试验就会晋级；如果有的名次"
                                         "在前，则会更晚；{1}"},
                 more, can_arrive);
    }
    return say(language,
               exhausted
                   ? Phrase<2>{"the trial cannot be promoted at present: it needs {0} at its rung, and {1}. "
                               "This changes if on_duplicate is set to allow (every configuration was tried) "
                               "or if trials that rank ahead end early",
                               "试验目前无法晋级：其级别还需要 {0}，而{1}。如果把 on_duplicate 设为 "
                               "allow（所有配置都已试过），或者名次在前的试验提前结束，情况会改变"}
                   : Phrase<2>{"the trial cannot be promoted at present: it needs {0} at its rung, and {1}. "
                               "This changes if max_trials is raised or if trials that rank ahead end early",
                               "试验目前无法晋级：其级别还需要 {0}，而{1}。如果提高 max_trials，"
                               "或者名次在前的试验提前结束，情况会改变"},
               more, can_arrive);
  }
};

}  // namespace

std::string now_text(const engine::Explanation& explanation, std::string_view unit, Language language) {
  return std::visit(NowText{explanation, unit, language}, explanation.now);
}

std::string next_text(const engine::Explanation& explanation, std::string_view unit, Language language) {
  return std::visit(NextText{explanation, unit, language}, explanation.next);
}

std::string finishing_text(engine::Duration at_most, Language language) {
  return say(language,
             {"its program may finish what it does at its length, for {0} s at most "
              "(environment.finish_within); its slots are in use until it exits",
              "程序到达其长度后可以完成正在做的事，最多 {0} s（environment.finish_within）；"
              "在它退出之前槽位一直被占用"},
             at_most.in_micros() / 1'000'000);
}

}  // namespace hpsearch::sentences
