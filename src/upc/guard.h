// The guard page at the start of every thread's arena that is within reach.
#pragma once

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

void guard_start();
void guard_end();

}  // namespace nearcache::upc
#pragma GCC visibility pop
