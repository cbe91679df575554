// Code under a sanitizer takes ten times as long: random runs may be shorter there, and checks that
// only measure how good a policy is may be left out.
#pragma once

namespace nearcache {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)  // clang
constexpr bool sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool sanitized = false;
#endif

constexpr int steps_of(int steps) { return sanitized ? steps / 4 : steps; }

}  // namespace nearcache
