#include "fuzz.h"
#include "page_model.h"

namespace nearcache::test {

const char* const fuzz_target = "fuzz_page_cache";
std::string run_fuzz_target(const uint8_t* input, size_t size) {
  return run_page_model(input, size);
}
std::vector<uint8_t> fuzz_input(uint64_t seed) { return arbitrary_bytes(seed); }

}  // namespace nearcache::test
