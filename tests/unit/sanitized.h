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

// The number of steps of a random run; more of them in `./test --long`.
inline int steps_of(int steps) {
  const bool few = std::getenv("NEARCACHE_TEST_LONG") == nullptr;
  if (sanitized) return few ? steps / 10 : steps;
  return few ? steps : 4 * steps;
}

}  // namespace nearcache
