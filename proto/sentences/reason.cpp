#include "hpsearch/proto/sentences/reason.hpp"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/sentences/phrase.hpp"
#include "hpsearch/proto/sentences/stored_sentence.hpp"
#include "hpsearch/proto/sentences/uncertain_number.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {
namespace {

using engine::Reason;
using Why = Reason::Why;

Phrase<0> phrase(Why why) noexcept {
  switch (why) {
    case Why::new_trial:
      return {"new trial", "新试验"};
    case Why::replacement:
      return {"replacement for a trial with invalid hyperparameters", "替换超参数无效的试验"};
    case Why::given_point:
      return {"from points_to_evaluate", "来自 points_to_evaluate"};
    case Why::near_trial:
      return {"drawn near an earlier trial", "在先前试验附近抽取"};
    case Why::before_model:
      return {"before the model has enough results", "模型结果不足之前"};
    case Why::explored:
      return {"to explore", "用于探索"};
    case Why::model_choice:
      return {"the model's choice", "模型的选择"};
    case Why::repeat:
      return {"another training of a finalist", "决赛者的再次训练"};
    case Why::promoted:
      return {"promoted", "已晋级"};
    case Why::waits_at_rung:
      return {"waits at its rung", "在其级别等待"};
    case Why::below_cutoff:
      return {"not among the best", "不在最佳之列"};
    case Why::rung_closed:
      return {"can no longer be promoted", "不能再晋级"};
    case Why::worse_than_others:
      return {"worse than others", "比其他试验差"};
    case Why::no_improvement:
      return {"no improvement", "没有改进"};
    case Why::max_length:
      return {"trained to the maximum length", "已训练到最大长度"};
    case Why::early_exit:
      return {"ended early", "提前结束"};
    case Why::user:
      return {"requested by a user", "应用户要求"};
    case Why::paused_itself:
      return {"the experiment paused itself", "实验自行暂停"};
    case Why::experiment_end:
      return {"the experiment ended", "实验结束"};
  }
  return {"unknown", "未知"};
}

/// "9 epochs", "9 epochs in bracket 2"
std::string rung_text(const Reason& reason, std::string_view unit, Language language) {
  const std::string rung = reason.at ? amount(*reason.at, unit, language) : "";
  if (reason.bracket.value_or(0) == 0) {
    return rung;
  }
  return rung.empty() ? say(language, {"bracket {0}", "组 {0}"}, *reason.bracket)
                      : say(language, {"{0} in bracket {1}", "组 {1} 的 {0}"}, rung, *reason.bracket);
}

/// "rank 3 of 17"; "" for a trial that has just begun.
std::string place_text(const Reason& reason, Language language) {
  if (!reason.rank) {
    return "";
  }
  const std::uint64_t rank = *reason.rank + 1;  // Users count ranks from 1.
  return reason.size ? say(language, {"rank {0} of {1}", "{1} 个中的第 {0} 名"}, rank, *reason.size)
                     : say(language, {"rank {0}", "第 {0} 名"}, rank);
}

/// "rank 3 of 17 at 9 epochs"
std::string standing_text(const Reason& reason, std::string_view unit, Language language) {
  const std::string rung = rung_text(reason, unit, language);
  const std::string place = place_text(reason, language);
  if (!place.empty()) {
    return rung.empty() ? place : say(language, {"{0} at {1}", "在 {1} 处为 {0}"}, place, rung);
  }
  return reason.at ? say(language, {"first rung at {0}", "第一级在 {0}"}, rung) : rung;
}

/// " (keeps the best 4, cut-off 0.912)"
std::string cutoff_text(const Reason& reason, Language language) {
  std::string text;
  if (reason.keep) {
    text = *reason.keep == 0 ? say(language, {"too few results for a promotion", "结果太少，无法晋级"})
                             : say(language, {"keeps the best {0}", "保留最好的 {0} 个"}, *reason.keep);
  }
  if (reason.cutoff) {
    text += text.empty() ? "" : say(language, comma);
    text += say(language, {"cut-off {0}", "分界值 {0}"}, engine::short_number(*reason.cutoff));
  }
  return text.empty() ? "" : say(language, {" ({0})", "（{0}）"}, text);
}

/// "drawn near trial 12 (rank 3 of 40), in windows of 25 % of each range"
std::string near_text(const Reason& reason, Language language) {
  std::string text = say(language, {"drawn near trial {0}", "在试验 {0} 附近抽取"}, *reason.near);
  if (reason.near_rank) {
    const std::uint64_t rank = *reason.near_rank + 1;
    text += reason.results
                ? say(language, {" (rank {0} of {1})", "（{1} 个中的第 {0} 名）"}, rank, *reason.results)
                : say(language, {" (rank {0})", "（第 {0} 名）"}, rank);
  }
  if (reason.spread) {
    text += say(language, {", in windows of {0} % of each range", "，窗口为每个范围的 {0} %"},
                engine::short_number(100 * *reason.spread));
  }
  return text;
}

/// "expects 0.931 ± 0.012 at full length; ln of the expected improvement -3.21; metrics at its first rung
/// correlate with those at full length by 0.83; nearest earlier trials 12, 7, 3"
std::string expected_text(const engine::ExpectedResult& expected, Language language) {
  std::string text =
      say(language,
          {"expects {0} at full length; ln of the expected improvement {1}",
           "预期完整长度时为 {0}；预期改进的自然对数为 {1}"},
          with_deviation(expected.mean, expected.deviation), fixed(expected.log_improvement, 2));
  if (expected.correlation) {
    text += say(language,
                {"; metrics at its first rung correlate with those at full length by {0}",
                 "；第一级的指标与完整长度时的相关系数为 {0}"},
                fixed(*expected.correlation, 2));
  }
  if (expected.nearest.empty()) {
    return text;
  }
  std::string trials;
  for (const std::uint64_t trial : expected.nearest) {
    trials += (trials.empty() ? "" : ", ") + std::to_string(trial);
  }
  return text + say(language,
                    expected.nearest.size() == 1
                        ? Phrase<1>{"; nearest earlier trial {0}", "；最近的先前试验 {0}"}
                        : Phrase<1>{"; nearest earlier trials {0}", "；最近的先前试验 {0}"},
                    trials);
}

/// "repeat 2 of 3 of trial 17". The detail of the reason is "2 of 3".
std::string repeat_text(const Reason& reason, Language language) {
  constexpr std::string_view of = " of ";
  const std::size_t place = reason.detail.find(of);
  if (place == std::string::npos) {
    return say(language, {"repeat {0} of trial {1}", "试验 {1} 的重复训练 {0}"}, reason.detail, *reason.near);
  }
  return say(language, {"repeat {0} of {1} of trial {2}", "试验 {2} 的重复训练，{1} 次中的第 {0} 次"},
             reason.detail.substr(0, place), reason.detail.substr(place + of.size()), *reason.near);
}

/// "0.52 is worse than the median of 8 other trials; rank 7 of 9 at 5 epochs (keeps the best 4, cut-off
/// 0.31)". The detail of the reason is the percentage that goes on.
std::string compared_text(const Reason& reason, std::string_view unit, Language language) {
  const std::string value = reason.value ? engine::short_number(*reason.value) : "NaN";
  const std::uint64_t others = reason.size.value_or(1) - 1;
  const std::string text =
      reason.detail == "50"
          ? say(language,
                {"{0} is worse than the median of {1} other trials", "{0} 比其他 {1} 个试验的中位数差"},
                value, others)
          : say(language,
                {"{0} is not among the best {1} % of {2} other trials",
                 "{0} 不在其他 {2} 个试验中最好的 {1} % 之列"},
                value, reason.detail, others);
  return text + say(language, semicolon) + standing_text(reason, unit, language) +
         cutoff_text(reason, language);
}

/// "no improvement for 5 epochs since 0.31 at 4 epochs (needed better than 0.309)". The detail of the reason
/// is that length, a number.
std::string impatient_text(const Reason& reason, std::string_view unit, Language language) {
  std::uint64_t length = 0;
  static_cast<void>(
      std::from_chars(reason.detail.data(), reason.detail.data() + reason.detail.size(), length));
  const std::string patience = amount(engine::Units{length}, unit, language);
  const std::string since = amount(reason.at.value_or(engine::Units{}), unit, language);
  if (!reason.value) {
    return say(language, {"no number for {0} since {1}", "自 {1} 起 {0} 内没有数值"}, patience, since);
  }
  std::string text =
      say(language, {"no improvement for {0} since {1} at {2}", "自 {2} 处的 {1} 起 {0} 内没有改进"},
          patience, engine::short_number(*reason.value), since);
  if (reason.cutoff && *reason.cutoff != *reason.value) {
    text += say(language, {" (needed better than {0})", "（需要好于 {0}）"},
                engine::short_number(*reason.cutoff));
  }
  return text;
}

}  // namespace

std::string describe_rank(const Reason& reason, std::string_view unit, Language language) {
  return standing_text(reason, unit, language) + cutoff_text(reason, language);
}

std::string describe(const Reason& reason, std::string_view unit, Language language) {
  if (reason.why == Why::repeat && reason.near) {
    return repeat_text(reason, language);
  }
  if (reason.why == Why::worse_than_others && reason.rank) {
    return compared_text(reason, unit, language);
  }
  if (reason.why == Why::no_improvement && !reason.detail.empty()) {
    return impatient_text(reason, unit, language);
  }
  const std::string detail = stored_in(language, reason.detail);
  if (reason.why == Why::max_length && !detail.empty()) {
    return detail;  // It has no more to train, and is below that length.
  }
  std::string text = reason.why == Why::near_trial && reason.near ? near_text(reason, language)
                                                                  : say(language, phrase(reason.why));
  if (reason.why == Why::before_model && reason.results) {
    text += say(language, {" ({0} so far)", "（目前 {0} 个）"}, *reason.results);
  }
  if (reason.expected) {
    text += say(language, colon) + expected_text(*reason.expected, language);
  }
  if (!detail.empty()) {
    text += say(language, colon) + detail;
  }
  const std::string standing = standing_text(reason, unit, language);
  if (!standing.empty()) {
    text += say(language, semicolon) + standing;
  }
  return text + cutoff_text(reason, language);
}

}  // namespace hpsearch::sentences
