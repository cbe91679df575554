// Random operations on the page cache, checked against the oracle of tests/fuzz after each of them.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "page_model.h"
#include "sanitized.h"

namespace nearcache::test {
namespace TEST_FILE {

class PageCacheRandomRun : public testing::TestWithParam<uint32_t> {};

TEST_P(PageCacheRandomRun, AgreesWithTheOracle) {
  std::mt19937 random(GetParam() + 1000);
  for (int run = 0; run < steps_of(80); ++run) {
    std::vector<uint8_t> input(random() % 6000 + 200);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    input[0] = static_cast<uint8_t>((random() & ~3u & (run % 8 == 0 ? 255u : 127u)) | GetParam());
    ASSERT_EQ(run_page_model(input.data(), input.size()), "") << "run " << run;
  }
}

// The laziness of the transport: eager, late, random.
INSTANTIATE_TEST_SUITE_P(EveryTransport, PageCacheRandomRun, testing::Range(0u, 3u));

}  // namespace TEST_FILE
}  // namespace nearcache::test
