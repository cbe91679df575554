// Runs the get cache on operations decoded from bytes, beside a model that knows which values each
// byte may have.
//
// The model is the remote memory itself. It changes by this rank's own writes (record_write) and,
// as if other ranks had written, at an invalidation. A get reads the memory when it is issued.
// Whatever the cache serves, or lets a repeated get wait for, must therefore equal the memory as it
// is now. Links, counts and the memory budget are checked after every operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nearcache::test {

// Returns what went wrong and at which operation, or an empty string.
std::string run_engine_model(const uint8_t* input, size_t size);

}  // namespace nearcache::test
