// A fuzz target: an engine against its model on arbitrary bytes, or the trace reader and its users
// on damaged traces. With clang and NEARCACHE_FUZZ=ON this is a libFuzzer target; otherwise it is a
// program that runs kept and random inputs:
//   fuzz_<target> [--runs N] [--seed S] [file or folder ...]
#include "fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace nearcache::test {

// Half of the inputs are long, so that the storage and the write log fill up.
std::vector<uint8_t> arbitrary_bytes(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> input(random() % (seed % 2 == 0 ? 300 : 6000));
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

}  // namespace nearcache::test

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string wrong = nearcache::test::run_fuzz_target(data, size);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s: %s\n", nearcache::test::fuzz_target, wrong.c_str());
    std::abort();
  }
  return 0;
}

#ifndef NEARCACHE_LIBFUZZER
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "sanitized.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

std::vector<std::filesystem::path> files_of(const char* name) {
  if (!std::filesystem::is_directory(name)) return {name};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(name)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

int refused(const char* word, const char* why) {
  std::fprintf(stderr, "%s: %s: %s\nusage: %s [--runs N] [--seed S] [file or folder ...]\n",
               nearcache::test::fuzz_target, word, why, nearcache::test::fuzz_target);
  return 2;
}

}  // namespace

int main(int count, char** words) {
  uint64_t runs = 0, seed = 1, kept = 0;
  for (int i = 1; i < count; ++i) {
    const std::string_view word(words[i]);
    if ((word == "--runs" || word == "--seed") && i + 1 < count) {
      (word == "--runs" ? runs : seed) = std::strtoull(words[++i], nullptr, 10);
      continue;
    }
    if (word.starts_with("--"))
      return refused(words[i], "no option of this program, or without value");
    if (!std::filesystem::exists(words[i])) return refused(words[i], "no such file or folder");
    for (const auto& path : files_of(words[i])) {
      const Bytes input = contents(path);
      std::fprintf(stderr, "%s\n", path.c_str());
      LLVMFuzzerTestOneInput(input.data(), input.size());
      ++kept;
    }
  }
  if (nearcache::in_long_test) runs *= nearcache::sanitized ? 6 : 12;
  for (uint64_t run = 0; run < runs; ++run) {
    const Bytes input = nearcache::test::fuzz_input(seed + run);
    const std::string wrong = nearcache::test::run_fuzz_target(input.data(), input.size());
    if (wrong.empty()) continue;
    std::fprintf(stderr, "%s: seed %llu: %s\n", nearcache::test::fuzz_target,
                 static_cast<unsigned long long>(seed + run), wrong.c_str());
    return 1;
  }
  std::printf("%llu kept and %llu random inputs are as they should be\n",
              static_cast<unsigned long long>(kept), static_cast<unsigned long long>(runs));
  return 0;
}
#endif
