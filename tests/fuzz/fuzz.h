// What a fuzz target is made of; fuzz.cpp makes a libFuzzer target of it, or a program of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nearcache::test {

extern const char* const fuzz_target;
// Returns what went wrong with this input; empty if nothing did.
std::string run_fuzz_target(const uint8_t* input, size_t size);
// The random input of a seed.
std::vector<uint8_t> fuzz_input(uint64_t seed);

// An input of bytes that mean nothing.
std::vector<uint8_t> arbitrary_bytes(uint64_t seed);

}  // namespace nearcache::test
