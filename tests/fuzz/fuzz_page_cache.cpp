#include "fuzz.h"
#include "page_model.h"

namespace nearcache::test {

const char* const fuzz_target = "fuzz_page_cache";
std::string run_fuzz_target(const uint8_t* input, size_t size) { return run_page_model(input, size); }

}  // namespace nearcache::test
