// SPDX-License-Identifier: BSD-3-Clause

// Defines NEARCACHE_THREAD_SANITIZER if this is compiled with it.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define NEARCACHE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NEARCACHE_THREAD_SANITIZER 1
#endif
#endif
