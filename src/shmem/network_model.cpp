#include "shmem/network_model.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/link_model.h"
#include "shmem/context.h"
#include "shmem/next.h"

namespace nearcache::shmem {
namespace {

struct Model {
  bool installed = false;
  LinkModel link;
  Next real;  // the functions below
  std::mutex mutex;
  std::unordered_map<uint64_t, double> deadlines;  // by context
};

Model& model() {
  static Model& instance = *new Model;  // needed until the process ends
  return instance;
}

bool far(int pe) { return pe != context.pe; }

void answer(int pe, size_t bytes, auto transfer) {
  const double complete = far(pe) ? model().link.start(static_cast<double>(bytes)) : 0;
  transfer();
  LinkModel::wait_until(complete);
}

void post(shmem_ctx_t ctx, int pe, size_t bytes) {
  if (!far(pe)) return;
  Model& m = model();
  const double complete = m.link.start(static_cast<double>(bytes));
  const std::lock_guard lock(m.mutex);
  double& deadline = m.deadlines[handle_bits(ctx)];
  deadline = std::max(deadline, complete);
}

// Waits until everything of the context would have arrived.
void arrived(shmem_ctx_t ctx) {
  Model& m = model();
  double until = 0;
  {
    const std::lock_guard lock(m.mutex);
    const auto found = m.deadlines.find(handle_bits(ctx));
    if (found == m.deadlines.end()) return;
    until = found->second;
    m.deadlines.erase(found);
  }
  LinkModel::wait_until(until);
}

void modelled_getmem(void* to, const void* from, size_t bytes, int pe) {
  answer(pe, bytes, [&] { model().real.getmem(to, from, bytes, pe); });
}
void modelled_ctx_getmem(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  answer(pe, bytes, [&] { model().real.ctx_getmem(ctx, to, from, bytes, pe); });
}
void modelled_getmem_nbi(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().real.getmem_nbi(to, from, bytes, pe);
}
void modelled_ctx_getmem_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().real.ctx_getmem_nbi(ctx, to, from, bytes, pe);
}
void modelled_putmem(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().real.putmem(to, from, bytes, pe);
}
void modelled_ctx_putmem(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().real.ctx_putmem(ctx, to, from, bytes, pe);
}
void modelled_putmem_nbi(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().real.putmem_nbi(to, from, bytes, pe);
}
void modelled_ctx_putmem_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().real.ctx_putmem_nbi(ctx, to, from, bytes, pe);
}
void modelled_quiet() {
  model().real.quiet();
  arrived(SHMEM_CTX_DEFAULT);
}
void modelled_ctx_quiet(shmem_ctx_t ctx) {
  model().real.ctx_quiet(ctx);
  arrived(ctx);
}

}  // namespace

std::string network_model_install(const std::string& text) {
  Model& m = model();
  if (text.empty() || m.installed) return {};
  const std::string wrong = m.link.set(text);
  if (!wrong.empty()) return wrong;
  m.installed = true;
  m.real = next;
  next.getmem = modelled_getmem;
  next.getmem_nbi = modelled_getmem_nbi;
  next.putmem = modelled_putmem;
  next.putmem_nbi = modelled_putmem_nbi;
  next.quiet = modelled_quiet;
  next.ctx_getmem = modelled_ctx_getmem;
  next.ctx_getmem_nbi = modelled_ctx_getmem_nbi;
  next.ctx_putmem = modelled_ctx_putmem;
  next.ctx_putmem_nbi = modelled_ctx_putmem_nbi;
  next.ctx_quiet = modelled_ctx_quiet;
  return {};
}

bool network_modelled() { return model().installed; }

std::string network_model_label() { return model().installed ? model().link.label() : std::string(); }

void model_answer(const Channel* channel, int pe, size_t bytes) {
  if (network_modelled() && channel != nullptr) answer(pe, bytes, [] {});
}

void model_post(const Channel* channel, int pe, size_t bytes) {
  if (network_modelled() && channel != nullptr) post(channel->handle(), pe, bytes);
}

}  // namespace nearcache::shmem
