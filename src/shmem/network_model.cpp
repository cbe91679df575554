// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/network_model.h"

#include "front/deadlines.h"
#include "front/network_model.h"
#include "shmem/context.h"
#include "shmem/next.h"

namespace nearcache::shmem {
namespace {

void cover(Next* table);

struct Model : NetworkModel<Next> {
  Model() : NetworkModel(cover) {}

  Deadlines<uint64_t> deadlines;  // by context
};

Model& model() {
  static Model& instance = *new Model;  // needed until the process ends
  return instance;
}

// `pe` is numbered as in the context's team.
bool far(shmem_ctx_t ctx, int pe) {
  const Channel* channel = context.find(ctx);
  return (channel == nullptr ? pe : channel->world_pe(pe)) != context.pe;
}

void answer(shmem_ctx_t ctx, int pe, size_t bytes, auto transfer) {
  const double complete = far(ctx, pe) ? model().link.start(static_cast<double>(bytes)) : 0;
  transfer();
  LinkModel::wait_until(complete);
}

void post(shmem_ctx_t ctx, int pe, size_t bytes) {
  if (!far(ctx, pe)) return;
  Model& m = model();
  m.deadlines.add(handle_bits(ctx), m.link.start(static_cast<double>(bytes)));
}

// Waits until all transfers of the context would have arrived.
void arrived(shmem_ctx_t ctx) {
  model().deadlines.wait_for(
      [bits = handle_bits(ctx)](uint64_t context) { return context == bits; });
}

void modelled_getmem(void* to, const void* from, size_t bytes, int pe) {
  answer(SHMEM_CTX_DEFAULT, pe, bytes, [&] { model().layer.below.getmem(to, from, bytes, pe); });
}
void modelled_ctx_getmem(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  answer(ctx, pe, bytes, [&] { model().layer.below.ctx_getmem(ctx, to, from, bytes, pe); });
}
void modelled_getmem_nbi(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().layer.below.getmem_nbi(to, from, bytes, pe);
}
void modelled_ctx_getmem_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().layer.below.ctx_getmem_nbi(ctx, to, from, bytes, pe);
}
void modelled_putmem(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().layer.below.putmem(to, from, bytes, pe);
}
void modelled_ctx_putmem(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().layer.below.ctx_putmem(ctx, to, from, bytes, pe);
}
void modelled_putmem_nbi(void* to, const void* from, size_t bytes, int pe) {
  post(SHMEM_CTX_DEFAULT, pe, bytes);
  model().layer.below.putmem_nbi(to, from, bytes, pe);
}
void modelled_ctx_putmem_nbi(shmem_ctx_t ctx, void* to, const void* from, size_t bytes, int pe) {
  post(ctx, pe, bytes);
  model().layer.below.ctx_putmem_nbi(ctx, to, from, bytes, pe);
}
void modelled_quiet() {
  model().layer.below.quiet();
  arrived(SHMEM_CTX_DEFAULT);
}
void modelled_ctx_quiet(shmem_ctx_t ctx) {
  model().layer.below.ctx_quiet(ctx);
  arrived(ctx);
}

void cover(Next* table) {
  table->getmem = modelled_getmem;
  table->getmem_nbi = modelled_getmem_nbi;
  table->putmem = modelled_putmem;
  table->putmem_nbi = modelled_putmem_nbi;
  table->quiet = modelled_quiet;
  table->ctx_getmem = modelled_ctx_getmem;
  table->ctx_getmem_nbi = modelled_ctx_getmem_nbi;
  table->ctx_putmem = modelled_ctx_putmem;
  table->ctx_putmem_nbi = modelled_ctx_putmem_nbi;
  table->ctx_quiet = modelled_ctx_quiet;
}

}  // namespace

std::string network_model_install(const std::string& text) { return model().set(text); }

bool network_modelled() { return model().installed; }

std::string network_model_label() { return model().label(); }

void model_answer(const Channel* channel, int pe, size_t bytes) {
  if (network_modelled() && channel != nullptr) answer(channel->handle(), pe, bytes, [] {});
}

void model_post(const Channel* channel, int pe, size_t bytes) {
  if (network_modelled() && channel != nullptr) post(channel->handle(), pe, bytes);
}

}  // namespace nearcache::shmem
