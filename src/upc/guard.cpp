// SPDX-License-Identifier: BSD-3-Clause

// An access through a null pointer to shared is a load or store in a page without access rights, so
// testing for it costs nothing. The handler distinguishes it from other faults, which it passes to
// the previous handler.
#include <signal.h>
#include <sys/mman.h>

#include "base/kernel_page.h"
#include "upc/internal.h"

namespace nearcache::upc {
namespace {

constexpr struct sigaction& before_us = runtime.guard.before_us;

void set_rights(int rights) {
  for (int thread = 0; thread < ncupc_threads; ++thread) {
    if (ncupc_near[thread] != nullptr) mprotect(ncupc_near[thread], guard_bytes, rights);
  }
}

bool in_guard(const void* address) {
  for (int thread = 0; thread < ncupc_threads; ++thread) {
    const char* base = ncupc_near[thread];
    if (base != nullptr && static_cast<const char*>(address) >= base &&
        static_cast<const char*>(address) < base + guard_bytes)
      return true;
  }
  return false;
}

// The fault is in the program's own code, not within a library call, so it is safe to end all
// threads from here.
void on_fault(int signal, siginfo_t* info, void* context) {
  if (runtime.started && in_guard(info->si_addr))
    ncupc_error(nullptr, 0, "access", "through a null pointer to shared");
  if ((before_us.sa_flags & SA_SIGINFO) != 0 && before_us.sa_sigaction != nullptr)
    return before_us.sa_sigaction(signal, info, context);
  if (before_us.sa_handler != SIG_DFL && before_us.sa_handler != SIG_IGN)
    return before_us.sa_handler(signal);
  sigaction(signal, &before_us, nullptr);  // the access is repeated, and faults for good
}

}  // namespace

void guard_start() {
  // with larger pages, Control would be in the guard page
  if (kernel_page() > guard_bytes) return;
  set_rights(PROT_NONE);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &before_us);
}

void guard_end() {
  if (kernel_page() > guard_bytes) return;
  set_rights(PROT_READ | PROT_WRITE);
  sigaction(SIGSEGV, &before_us, nullptr);
}

}  // namespace nearcache::upc
