// Code under a sanitizer takes ten times as long: random runs may be shorter there, and checks that
// only measure how good a policy is may be left out.
#pragma once

#include <cstdlib>

namespace nearcache {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)  // clang
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

// In `./test --long` random runs are longer.
inline const bool in_long_test = std::getenv("NEARCACHE_TEST_LONG") != nullptr;

// Returns the number of steps of a random run.
template <class Count>
Count steps_of(Count steps) {
  if (sanitized) return in_long_test ? steps : steps / 10;
  return in_long_test ? 4 * steps : steps;
}

}  // namespace nearcache
