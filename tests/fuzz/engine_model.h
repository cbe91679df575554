// Runs the get cache on operations decoded from bytes, beside a model that knows which value every
// byte may have.
//
// The model is the remote memory itself: it changes by own writes (record_write) and, as other
// ranks would change it, at an invalidation. A get reads it when it is issued. So whatever the
// cache serves, or lets a repeat wait for, must equal the memory as it is now. Links, counts and
// the memory budget are checked after every operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nearcache::test {

// Returns what went wrong and at which operation; empty if nothing did.
std::string run_engine_model(const uint8_t* input, size_t size);

}  // namespace nearcache::test
