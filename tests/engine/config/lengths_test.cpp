#include <gtest/gtest.h>

#include "engine/read_config.hpp"

namespace hpsearch::engine {
namespace {

struct LengthCase {
  const char* name;
  Value max_length;
  Value period;
  Value records_per_epoch;
  Value global_batch_size;
  const char* unit;
  std::uint64_t expected_length;
  std::uint64_t expected_period;  // 0 = off
};

class Lengths : public testing::TestWithParam<LengthCase> {};

Value lengths_tree(const Value& max_length, const Value& period, const Value& records_per_epoch,
                   const Value& global_batch_size) {
  Value tree = with(small_experiment(), "searcher.max_length", max_length);
  tree = with(std::move(tree), "min_validation_period", period);
  tree = with(std::move(tree), "records_per_epoch", records_per_epoch);
  return global_batch_size.is_null()
             ? tree
             : with(std::move(tree), "hyperparameters.global_batch_size", global_batch_size);
}

TEST_P(Lengths, AreTurnedIntoTheUnitOfMaxLength) {
  const LengthCase& one = GetParam();
  const ExperimentConfig config =
      accepted(lengths_tree(one.max_length, one.period, one.records_per_epoch, one.global_batch_size));
  EXPECT_EQ(config.unit, one.unit);
  EXPECT_EQ(count(config.searcher.max_length), one.expected_length);
  EXPECT_EQ(config.min_validation_period ? count(*config.min_validation_period) : 0, one.expected_period);
}

Value batches(int n) {
  return Value::Map{{"batches", n}};
}
Value records(int n) {
  return Value::Map{{"records", n}};
}
Value epochs(int n) {
  return Value::Map{{"epochs", n}};
}

INSTANTIATE_TEST_SUITE_P(
    Units, Lengths,
    testing::Values(
        LengthCase{"Bare", 100, 10, {}, {}, "batches", 100, 10},
        LengthCase{"BareIsInTheUnitOfMaxLength", epochs(10), 2, {}, {}, "epochs", 10, 2},
        LengthCase{
            "OwnWord", Value::Map{{"steps", 500}}, Value::Map{{"steps", 50}}, {}, {}, "steps", 500, 50},
        LengthCase{"OwnWordAndBare", Value::Map{{"steps", 500}}, 50, {}, {}, "steps", 500, 50},
        LengthCase{"Singular", Value::Map{{"epoch", 3}}, epochs(1), {}, {}, "epochs", 3, 1},
        LengthCase{"EpochsToBatches", batches(1000), epochs(2), 1000, 64, "batches", 1000, 31},
        LengthCase{"BatchesToEpochsFloor", epochs(5), batches(47), 1000, 64, "epochs", 5, 3},
        LengthCase{"NeverFromSomethingToNothing", epochs(5), batches(1), 1000, 64, "epochs", 5, 1},
        LengthCase{"RecordsToBatches", batches(100), records(639), {}, 64, "batches", 100, 9},
        LengthCase{"BatchesToRecords", records(6400), batches(3), {}, 64, "records", 6400, 192},
        LengthCase{"RecordsToEpochs", epochs(4), records(2500), 1000, 64, "epochs", 4, 2},
        LengthCase{"ConstParameterAsBatchSize", batches(100), epochs(1), 640,
                   Value::Map{{"type", "const"}, {"val", 64}}, "batches", 100, 10},
        LengthCase{"ZeroIsOff", epochs(4), batches(0), {}, {}, "epochs", 4, 0},
        LengthCase{"PrintedZeroOfRecordsPerEpoch", epochs(4), {}, 0, {}, "epochs", 4, 0}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(LengthProblems, NameWhatIsMissing) {
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), {}, 64)),
            "min_validation_period: is in epochs, the experiment counts batches, and records_per_epoch is "
            "missing (set "
            "records_per_epoch, or give every length in one unit)\n");
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), 100, {})),
            "min_validation_period: is in epochs, the experiment counts batches, and "
            "hyperparameters.global_batch_size "
            "is missing (set it, or give every length in one unit)\n");
  EXPECT_EQ(problems_of(lengths_tree(batches(10), epochs(1), 100,
                                     Value::Map{{"type", "categorical"}, {"vals", Value::List{32, 64}}})),
            "min_validation_period: is in epochs, the experiment counts batches, and "
            "hyperparameters.global_batch_size "
            "is not one positive integer (make it a constant, or give every length in one unit)\n");
  EXPECT_EQ(
      problems_of(lengths_tree(records(10), {}, {}, {})),
      "searcher.max_length: is in records, and hyperparameters.global_batch_size is missing (records need "
      "hyperparameters.global_batch_size; or use another unit, such as {samples: 1000})\n");
  EXPECT_EQ(
      problems_of(lengths_tree(epochs(10), Value::Map{{"steps", 5}}, 100, 64)),
      "min_validation_period: is in steps, but searcher.max_length is in epochs (a bare number, or the same "
      "unit; only batches, records and epochs convert)\n");
}

TEST(LengthProblems, RefuseWhatIsNoLength) {
  EXPECT_EQ(problems_of(lengths_tree(0, {}, {}, {})),
            "searcher.max_length: is 0 (an integer of at least 1, or that with its unit, as {epochs: 10})\n");
  EXPECT_EQ(problems_of(lengths_tree(Value::Map{{"batches", 1}, {"epochs", 2}}, {}, {}, {})),
            "searcher.max_length: names 2 units (exactly one unit, as {batches: 1000}, {records: 64000} or "
            "{epochs: "
            "10})\n");
  EXPECT_EQ(problems_of(lengths_tree(epochs(-1), {}, {}, {})),
            "searcher.max_length.epochs: is -1 (an integer of at least 1)\n");
  EXPECT_EQ(problems_of(lengths_tree(Value::Map{{"two words", 1}}, {}, {}, {})),
            "searcher.max_length: has the unit \"two words\" (a word of letters, digits and _)\n");
  EXPECT_EQ(problems_of(lengths_tree(Value(std::int64_t{9223372036854775807}), epochs(2000000000),
                                     Value(std::int64_t{9000000000000000000}), 1)),
            "min_validation_period: is more than 2^63 batches (a shorter length)\n");
}

TEST(LengthNotes, AskAboutUnitsThatLookMistyped) {
  const ParsedConfig parsed = read_config(lengths_tree(Value::Map{{"epocs", 3}}, {}, {}, {}));
  ASSERT_TRUE(parsed.config);
  EXPECT_EQ(lines(parsed.notes),
            "searcher.max_length.epocs: read as a custom unit; did you mean `epochs`?\n");
}

}  // namespace
}  // namespace hpsearch::engine
