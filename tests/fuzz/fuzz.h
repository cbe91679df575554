// What a fuzz target is made of; fuzz.cpp makes a libFuzzer target of it, or a program of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nearcache::test {

extern const char* const fuzz_target;
// Returns what went wrong with this input; empty if nothing did.
std::string run_fuzz_target(const uint8_t* input, size_t size);

}  // namespace nearcache::test
