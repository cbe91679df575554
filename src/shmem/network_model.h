// SPDX-License-Identifier: BSD-3-Clause

// A modelled network below the cache (base/link_model.h), as for MPI: transfers to other PEs
// complete when the model says so. Networks that are not available can thus be studied on one
// machine. All output is labelled as modelled.
//
// A blocking get returns L + G * bytes after its call. A put returns at once; puts and non-blocking
// transfers are complete at the next quiet of their context, which waits for them. Atomics and
// strided transfers count as one transfer of the bytes they span. Collectives run at the speed of
// the real network. shmem_ptr returns null for other PEs, so shared memory carries the data but is
// never accessed directly.
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

// Called by typed calls that are passed on: the first waits for an answer, the second starts
// something that the context's quiet completes. Both do nothing without a model, for the calling
// PE itself, or (channel null) for calls that transfer nothing.
void model_answer(const Channel* channel, int pe, size_t bytes);
void model_post(const Channel* channel, int pe, size_t bytes);

}  // namespace nearcache::shmem
