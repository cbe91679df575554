// Runs the page cache on operations decoded from bytes, over a lazy transport (lazy_transport.h)
// and beside an oracle that knows for every byte of every PE which values a read may return.
//
// The oracle is the program's view: it sees its own writes at once and the writes of others from
// the next acquire on; until then it may see either value. Others write only where a correct
// program lets them: not where this process has a put that is not delivered yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace nearcache::test {

// Returns what went wrong and at which operation, or an empty string.
std::string run_page_model(const uint8_t* input, size_t size);

}  // namespace nearcache::test
