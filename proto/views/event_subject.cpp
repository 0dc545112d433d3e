#include "hpsearch/proto/views/event_subject.hpp"

#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

namespace hpsearch::views {
namespace {

/// Finds the experiment and the trial among the fields of an event.
struct Finder {
  Touched& touched;

  template <class Member>
  void operator()(std::string_view key, const Member& member) const {
    if constexpr (std::is_same_v<Member, engine::ExperimentId>) {
      touched.experiment = member;
    } else if constexpr (std::is_same_v<Member, engine::TrialNumber>) {
      if (key == "trial") {
        touched.trial = member;
      }
    }
  }
  void operator()(std::string_view key, const std::optional<engine::TrialNumber>& member) const {
    if (member) {
      (*this)(key, *member);
    }
  }
  template <class Member>
  void maybe(std::string_view key, const Member& member) const {
    (*this)(key, member);
  }
};

}  // namespace

Touched touched_by(const engine::Event& event) {
  Touched touched;
  std::visit(
      [&touched](const auto& body) {
        const Finder finder{touched};
        std::remove_cvref_t<decltype(body)>::list_fields(finder, body);
      },
      event.body);
  return touched;
}

}  // namespace hpsearch::views
