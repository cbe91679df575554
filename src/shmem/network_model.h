// A modelled network below the cache (base/link_model.h), as for MPI: transfers to other PEs
// complete at their time in the model, so that networks that are not available can be studied on
// one machine. All output is labelled as modelled.
//
// A blocking get returns L + G * bytes after its call. A put returns at once; it and what is
// non-blocking are complete at the next quiet of their context, which waits until then. Atomics and
// strided transfers count as one transfer of the bytes they span. Collectives pass at the speed of
// the network that is there. shmem_ptr is null for other PEs, so that shared memory is the carrier.
#pragma once

#include <cstddef>
#include <string>

namespace nearcache::shmem {

class Channel;

// `text` is "L,G": nanoseconds and nanoseconds per byte; empty installs nothing. Returns what is
// wrong, or "".
std::string network_model_install(const std::string& text);

bool network_modelled();

// "L=1900 ns, G=0.17 ns/B", or empty when nothing is modelled.
std::string network_model_label();

// What the typed calls that pass on add to themselves: the wait for an answer, and the start of
// something that a quiet of the context completes. Nothing without a model, for the own PE, or
// (channel null) for calls that transfer nothing.
void model_answer(const Channel* channel, int pe, size_t bytes);
void model_post(const Channel* channel, int pe, size_t bytes);

}  // namespace nearcache::shmem
