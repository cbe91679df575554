// The interface of a fuzz target. fuzz.cpp turns it into a libFuzzer target or a stand-alone
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nearcache::test {

extern const char* const fuzz_target;
// Returns what went wrong with this input, or an empty string.
std::string run_fuzz_target(const uint8_t* input, size_t size);
// Returns the random input generated from a seed.
std::vector<uint8_t> fuzz_input(uint64_t seed);

// Returns an input of random, unstructured bytes.
std::vector<uint8_t> arbitrary_bytes(uint64_t seed);

}  // namespace nearcache::test
