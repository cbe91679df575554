// Random operations on the get cache, checked against the reference model of tests/fuzz after each
// of them.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/options.h"
#include "engine_model.h"

namespace nearcache::test {
namespace TEST_FILE {

class RandomRun : public testing::TestWithParam<int> {};

TEST_P(RandomRun, AgreesWithTheModel) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()) + 100);
  for (int run = 0; run < 60; ++run) {
    std::vector<uint8_t> input(random() % 8000 + 1);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    input[0] = static_cast<uint8_t>((random() % 36) * 7 + static_cast<unsigned>(GetParam()));
    ASSERT_EQ(run_engine_model(input.data(), input.size()), "") << "run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, RandomRun, testing::Range(0, 7),
                         [](const testing::TestParamInfo<int>& info) {
                           std::string name = policy_name(static_cast<PolicyKind>(info.param));
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace TEST_FILE
}  // namespace nearcache::test
