#include "hpsearch/proto/sentences/stored_sentence.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

/// A phrase whose English form is spelled elsewhere: in the engine, the searchers, the workers and the
/// daemon. The test stored_sentences finds it there.
struct Known {
  std::string_view english;
  std::string_view chinese;

  template <std::size_t holes>
  consteval Known(const Phrase<holes>& phrase) : english(phrase.english), chinese(phrase.chinese) {}
};

/// The first one that fits is used.
constexpr Known known_sentences[] = {
    // Several parts.
    Phrase<2>{"{0}; a checkpoint was not taken: {1}", "{0}；未取得检查点：{1}"},
    Phrase<3>{"{0}; no trial was trained to the full length of {1}, the longest to {2}",
              "{0}；没有试验训练到 {1} 的完整长度，最长训练到 {2}"},
    Phrase<1>{"{0}; it failed twice in the same way before its first report",
              "{0}；它在首次报告之前两次以相同方式失败"},
    Phrase<1>{"every trial failed; the last: {0}", "所有试验都失败了；最后一个：{0}"},
    Phrase<1>{"its first trial failed: {0}", "第一个试验失败：{0}"},
    Phrase<2>{"its first {0} trials failed in the same way: {1}", "前 {0} 个试验以相同方式失败：{1}"},
    Phrase<1>{"its first trials ended without a value of the search's metric: {0}",
              "首批试验结束时没有搜索指标的值：{0}"},
    Phrase<2>{"{0} attempts in a row ended without a report; the last: {1}",
              "连续 {0} 次尝试没有报告就结束；最后一次：{1}"},
    Phrase<1>{"{0} attempts in a row ended without a report", "连续 {0} 次尝试没有报告就结束"},
    Phrase<1>{"the program exited with code 0, but it {0}", "程序以退出码 0 退出，但{0}"},
    Phrase<2>{"at {0}, its length, it reports again and again, and it has {1}",
              "在其长度 {0} 处它一再报告，而且{1}"},
    Phrase<4>{"at {0}, beyond its length of {1}, the search's metric \"{2}\" was last reported at {3}",
              "在 {0} 处，已超过其长度 {1}，搜索的指标“{2}”最后一次报告是在 {3} 处"},
    Phrase<3>{"at {0}, beyond its length of {1}, it had {2}", "在 {0} 处，已超过其长度 {1}，{2}"},
    Phrase<2>{"reported no metric; the search's metric is {0} (did you mean {1}?)",
              "没有报告任何指标；搜索的指标是 {0}（您是指 {1} 吗？）"},
    Phrase<1>{"reported no metric; the search's metric is {0}", "没有报告任何指标；搜索的指标是 {0}"},
    Phrase<3>{"reported {0}; the search's metric is {1} (did you mean {2}?)",
              "报告了 {0}；搜索的指标是 {1}（您是指 {2} 吗？）"},
    Phrase<2>{"reported {0}; the search's metric is {1}", "报告了 {0}；搜索的指标是 {1}"},

    // Why an experiment pauses or ends.
    Phrase<0>{"canceled by a user", "被用户取消"},
    Phrase<0>{"killed by a user", "被用户强制结束"},
    Phrase<0>{"the experiment is paused", "实验已暂停"},
    Phrase<0>{"the experiment was resumed", "实验已继续"},
    Phrase<0>{"its experiment continues", "其实验继续"},
    Phrase<3>{"trial {0} reached budget.target with {1} {2}", "试验 {0} 以 {1} {2} 达到 budget.target"},
    Phrase<2>{"{0} trial has failed (budget.max_failed_trials {1})",
              "{0} 个试验失败（budget.max_failed_trials {1}）"},
    Phrase<2>{"{0} trials have failed (budget.max_failed_trials {1})",
              "{0} 个试验失败（budget.max_failed_trials {1}）"},
    Phrase<1>{"budget.max_slot_hours {0} is used up", "budget.max_slot_hours {0} 已用完"},
    Phrase<1>{"budget.max_time of {0} s is over", "budget.max_time 的 {0} s 已到"},
    Phrase<0>{"no trial came to anything", "没有试验得出结果"},
    Phrase<2>{"no trial was trained to the full length of {0}, the longest to {1}",
              "没有试验训练到 {0} 的完整长度，最长训练到 {1}"},
    Phrase<2>{
        "{0} trials reported their hyperparameters as invalid, and only {1} may be replaced; exclude such "
        "combinations from the space",
        "{0} 个试验报告其超参数无效，而最多只能替换 {1} 个；请从空间中排除这样的组合"},
    Phrase<2>{"the space is exhausted: all its configurations were tried, in {0}; {1} were asked for",
              "空间已用尽：其所有配置都已试过，共 {0}；要求 {1} 个"},
    Phrase<2>{
        "the space is exhausted: no draw is another configuration than those tried, in {0}; {1} were asked "
        "for",
        "空间已用尽：抽取不到未试过的配置，共 {0}；要求 {1} 个"},
    Phrase<2>{"{0} ({1} of them invalid)", "{0}（其中 {1} 个无效）"},
    Phrase<1>{"its first trials reached their lengths, and every {0} that they reported was NaN or infinite",
              "首批试验达到了各自的长度，而它们报告的每个 {0} 都是 NaN 或无穷"},

    // Why a trial was drawn, stops or fails.
    Phrase<0>{"stopped by a user", "被用户停止"},
    Phrase<0>{"retried by a user", "被用户重试"},
    Phrase<2>{"its program ended at {0} of {1}", "其程序在 {0} / {1} 处结束"},
    Phrase<2>{"its program exited at {0} of {1}", "其程序在 {0} / {1} 处退出"},
    Phrase<2>{"{0} was NaN at {1}: its training diverged", "{0} 在 {1} 处为 NaN：训练发散"},
    Phrase<2>{"{0} was infinite at {1}: its training diverged", "{0} 在 {1} 处为无穷：训练发散"},
    Phrase<0>{"its program failed", "其程序失败"},
    Phrase<1>{"invalid hyperparameters: {0}", "超参数无效：{0}"},
    Phrase<0>{"invalid hyperparameters", "超参数无效"},
    Phrase<2>{"of an earlier search, rank {0} of {1}", "来自先前的搜索，{1} 个中的第 {0} 名"},
    Phrase<0>{"no result is a number", "没有结果是数值"},
    Phrase<0>{"the model found no new configuration", "模型没有找到新的配置"},
    Phrase<4>{
        "is {0} times as likely among the best {1} of {2} results at {3} as among the others; drawn near a "
        "result of an earlier search",
        "在 {3} 处 {2} 个结果中最好的 {1} 个里的可能性是其余的 {0} 倍；在先前搜索的结果附近抽取"},
    Phrase<4>{"is {0} times as likely among the best {1} of {2} results at {3} as among the others",
              "在 {3} 处 {2} 个结果中最好的 {1} 个里的可能性是其余的 {0} 倍"},

    // How an attempt ended, with the last line of its log if it has one.
    Phrase<0>{"exit status 75: it asks to be run again", "退出码 75：它请求再次运行"},
    Phrase<0>{"exit status 126: the command is not executable", "退出码 126：命令不可执行"},
    Phrase<1>{"exit status 126: the command is not executable: {0}", "退出码 126：命令不可执行：{0}"},
    Phrase<0>{"exit status 127: the command was not found", "退出码 127：找不到命令"},
    Phrase<1>{"exit status 127: the command was not found: {0}", "退出码 127：找不到命令：{0}"},
    Phrase<2>{"exit status {0}: {1}", "退出码 {0}：{1}"},
    Phrase<1>{"exit status {0}", "退出码 {0}"},
    Phrase<2>{"ended by signal {0} (SIGKILL; perhaps the machine ran out of memory): {1}",
              "被信号 {0} 结束（SIGKILL；可能是机器内存不足）：{1}"},
    Phrase<1>{"ended by signal {0} (SIGKILL; perhaps the machine ran out of memory)",
              "被信号 {0} 结束（SIGKILL；可能是机器内存不足）"},
    Phrase<2>{"ended by signal {0}: {1}", "被信号 {0} 结束：{1}"},
    Phrase<1>{"ended by signal {0}", "被信号 {0} 结束"},
    Phrase<1>{"ended: no report from it for {0} s (progress_timeout)",
              "已结束：{0} s 内没有来自它的报告（progress_timeout）"},
    Phrase<0>{"ran out of memory: the kernel ended it", "内存不足：内核结束了它"},
    Phrase<1>{"ran out of memory: {0}", "内存不足：{0}"},
    Phrase<2>{"no message from its worker \"{0}\" for {1} s", "其工作节点“{0}”已 {1} s 没有消息"},
    Phrase<1>{"no message from it for {0} s", "已 {0} s 没有来自它的消息"},
    Phrase<0>{"its worker came back with fewer slots", "其工作节点返回时槽位变少"},
    Phrase<0>{"its worker was restarted and does not run it any more", "其工作节点已重启，不再运行它"},
    Phrase<0>{"its worker does not have it any more", "其工作节点上不再有它"},
    Phrase<0>{"it was ended before its worker started it", "在其工作节点启动它之前就已结束"},
    Phrase<0>{"something of an earlier attempt survives in its slots", "其槽位中仍有先前尝试的残留"},
    Phrase<1>{"its client did not renew the lease for {0} s", "其客户端 {0} s 没有续约"},
    Phrase<0>{"a part of it was lost", "它的一部分丢失了"},
    Phrase<2>{"rank {0}: {1}", "进程 {0}：{1}"},

    // Notes about an experiment.
    Phrase<3>{"it was promoted to {0} and began anew, at {1}: it left no checkpoint, so what it had ({2}) is "
              "trained again, and counts again. Save one in HPSEARCH_CHECKPOINT_DIR and go on from "
              "HPSEARCH_LATEST_CHECKPOINT, or set searcher.stop_once: true",
              "它晋级到 {0} 后从 {1} 重新开始：它没有留下检查点，因此已有的训练（{2}）会重做并再次计入。请在 "
              "HPSEARCH_CHECKPOINT_DIR 中保存检查点并从 HPSEARCH_LATEST_CHECKPOINT 继续，或设置 "
              "searcher.stop_once: true"},
    Phrase<1>{"its last report is one short of {0}, and it ended well: it has completed them",
              "它的最后一次报告比 {0} 少一，并且正常结束：视为已全部完成"},
    Phrase<2>{"its steps count from 0, and the last of {0} is {1}: they are counted from 1. Report what was "
              "trained in all, epoch + 1",
              "它的步数从 0 开始，{0}的最后一步是 {1}：按从 1 开始计算。请报告已训练的总量，即 epoch + 1"},
    Phrase<4>{
        "its program ended well at {0}, and it was to train up to {1}: what it reported there counts at "
        "every length. If your program trains {2}, set searcher.max_length: {3}",
        "其程序在 {0} 处正常结束，而它应训练到 {1}：它在那里报告的结果适用于每个长度。如果您的程序训练 "
        "{2}，请设置 searcher.max_length: {3}"},

    // Workers, slots and queues.
    Phrase<0>{"requested by an operator", "应操作员要求"},
    Phrase<2>{
        "{0} trials of {1} experiments failed there one after another, each within a minute and without a "
        "report, and then worked on other workers",
        "{1} 个实验的 {0} 个试验在此接连失败，每个都在一分钟内且没有报告，之后在其他工作节点上正常"},
    Phrase<1>{"in use by {0}", "被{0}占用"},
    Phrase<1>{"promised to {0}, which waits", "已预留给等待中的{0}"},
    Phrase<2>{"search {0} (process {1})", "搜索 {0}（进程 {1}）"},
    Phrase<0>{"another search of this user", "该用户的另一个搜索"},
    Phrase<0>{"no trial needs it any more", "不再有试验需要它"},
    Phrase<0>{"its queue was removed", "其队列已移除"},
    Phrase<0>{"its allocations fail", "其资源分配失败"},
    Phrase<1>{"its allocation {0} has ended", "其资源分配 {0} 已结束"},

    // The daemon's disk, and what it lacks.
    Phrase<1>{"no space is left in {0}; the daemon resumes automatically when there is space",
              "{0} 中没有剩余空间；有空间后守护进程会自动恢复"},
    Phrase<1>{"the database {0} is away; the daemon resumes automatically when it answers",
              "数据库 {0} 无法访问；恢复响应后守护进程会自动恢复"},
    Phrase<3>{"the disk is almost full ({0} of {1} are left at {2}); end experiments to free space",
              "磁盘几乎已满（{2} 处 {1} 中剩余 {0}）；请结束实验以释放空间"},
    Phrase<3>{
        "the disk is nearly full ({0} of {1} are left at {2}); new experiments are accepted again when there "
        "is space",
        "磁盘接近已满（{2} 处 {1} 中剩余 {0}）；有空间后会重新接受新实验"},
    Phrase<0>{"nothing was measured yet", "尚未测量任何内容"},
};

/// The texts in the holes of `form` with which it is `text`: each as short as it can be, and not empty.
std::optional<std::array<std::string_view, 10>> holes_of(std::string_view form, std::string_view text) {
  std::array<std::string_view, 10> holes;
  std::size_t hole = form.find('{');
  if (!text.starts_with(form.substr(0, hole))) {
    return std::nullopt;
  }
  if (hole == std::string_view::npos) {
    return text == form ? std::optional(holes) : std::nullopt;
  }
  text.remove_prefix(hole);
  while (hole != std::string_view::npos) {
    const auto number = static_cast<std::size_t>(form[hole + 1] - '0');
    form.remove_prefix(hole + 3);
    hole = form.find('{');
    const std::string_view behind = form.substr(0, hole);
    const bool is_last = hole == std::string_view::npos;
    const bool ends_so = text.size() > behind.size() && text.ends_with(behind);
    const std::size_t end =
        is_last ? (ends_so ? text.size() - behind.size() : std::string_view::npos) : text.find(behind, 1);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    holes[number] = text.substr(0, end);
    text.remove_prefix(end + behind.size());
  }
  return holes;
}

/// Members of events that are sentences, and those that have such members.
constexpr std::array<std::string_view, 5> sentence_names{"detail", "message", "reason", "text", "why"};
constexpr std::array<std::string_view, 3> part_names{"exit", "reason", "report"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "9 epochs" as an amount, "3 trials" as a count; otherwise another sentence, or the text itself.
std::string hole_in_chinese(std::string_view text) {
  const std::size_t blank = text.find(' ');
  const auto number = engine::number_in<std::uint64_t>(text.substr(0, blank));
  if (number && blank != std::string_view::npos) {
    const std::string_view noun = text.substr(blank + 1);
    constexpr std::array<std::array<std::string_view, 2>, 3> units{
        {{"epoch", "epochs"}, {"batch", "batches"}, {"record", "records"}}};
    for (const auto& [one, many] : units) {
      if (noun == one || noun == many) {
        return amount(engine::Units{*number}, many, Language::chinese);
      }
    }
    if (noun == "trial" || noun == "trials") {
      return counted(*number, nouns::trial, Language::chinese);
    }
  }
  return stored_in(Language::chinese, text);
}

}  // namespace

std::string stored_in(Language language, std::string_view stored) {
  if (language == Language::english) {
    return std::string(stored);
  }
  // Lines of a program's log may follow.
  const std::string_view line = stored.substr(0, stored.find('\n'));
  for (const Known& known : known_sentences) {
    if (const auto holes = holes_of(known.english, line)) {
      std::array<std::string, 10> texts;
      std::transform(holes->begin(), holes->end(), texts.begin(), [](std::string_view hole) {
        return hole.empty() ? std::string() : hole_in_chinese(hole);
      });
      return filled(known.chinese, {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6],
                                    texts[7], texts[8], texts[9]}) +
             std::string(stored.substr(line.size()));
    }
  }
  return std::string(stored);
}

engine::Value::Map sentences_in(Language language, const engine::Value::Map& event) {
  engine::Value::Map changed;
  if (language == Language::english) {
    return changed;
  }
  for (const auto& [name, value] : event) {
    if (const std::string* text = value.as_text(); text != nullptr && is_one_of(sentence_names, name)) {
      if (std::string now = stored_in(language, *text); now != *text) {
        changed[name] = std::move(now);
      }
    } else if (const engine::Value::Map* part = value.as_map();
               part != nullptr && is_one_of(part_names, name)) {
      engine::Value::Map whole = *part;
      const engine::Value::Map inside = sentences_in(language, *part);
      for (const auto& [inner, now] : inside) {
        whole[inner] = now;
      }
      if (!inside.empty()) {
        changed[name] = std::move(whole);
      }
    }
  }
  return changed;
}

}  // namespace hpsearch::sentences
