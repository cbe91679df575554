// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/index.h"

#include <algorithm>
#include <cstring>

namespace nearcache {

void Index::attach(void* memory, const Entry* entries, uint64_t capacity) {
  buckets_.set(static_cast<Bucket*>(memory));
  entries_.set(entries);
  capacity_ = std::max<uint64_t>(capacity, 1);
  bucket_count_ = buckets_for(capacity_);
  used_ = 0;
}

void Index::clear() {
#ifdef NEARCACHE_THREAD_SANITIZER
  for (uint64_t slot = 0; slot < slot_count(); ++slot)
    buckets_[slot / slots_per_bucket].put(slot % slots_per_bucket, 0, 0);
#else
  std::memset(static_cast<void*>(buckets_.get()), 0, bytes());
#endif
  used_ = 0;
}

void Index::reset_capacity(uint64_t capacity) {
  const uint64_t before = bytes();
  clear();
  capacity_ = std::max<uint64_t>(capacity, 1);
  bucket_count_ = buckets_for(capacity_);
  if (bytes() < before)
    Region::discard(reinterpret_cast<char*>(buckets_.get()) + bytes(), before - bytes());
}

bool Index::place(uint32_t bucket_at, uint32_t tag, EntryId id) {
  Bucket& bucket = buckets_[bucket_at];
  const uint32_t empty = matches(bucket, 0);
  if (empty == 0) return false;
  bucket.put(first_of(empty), tag, id);
  return true;
}

bool Index::insert(uint64_t hash, EntryId id) {
  if (used_ >= capacity_) return false;
  const uint32_t tag = tag_of(hash);
  const uint32_t first = first_bucket(hash);
  const uint32_t second = other_bucket(first, tag);
  uint32_t freed = 0;
  if (!place(first, tag, id) && !place(second, tag, id)) {
    if (!make_room(first, second, &freed) || !place(freed, tag, id)) return false;
  }
  ++used_;
  return true;
}

// Breadth-first search for the shortest chain of moves that frees a slot in `first` or `second`.
// Nothing is moved unless a chain is found. With up to 95% of the slots in use, 128 buckets almost
// certainly reach a free slot.
bool Index::make_room(uint32_t first, uint32_t second, uint32_t* freed) {
  struct Node {
    uint32_t bucket;
    int16_t parent;
    uint16_t slot;  // in the parent's bucket: the entry that would move here
  };
  constexpr int most_nodes = 128;
  Node nodes[most_nodes];
  int count = 0;
  nodes[count++] = {first, -1, 0};
  if (second != first) nodes[count++] = {second, -1, 0};
  for (int at = 0; at < count; ++at) {
    const Bucket& bucket = buckets_[nodes[at].bucket];
    for (uint16_t slot = 0; slot < slots_per_bucket && count < most_nodes; ++slot) {
      const uint32_t next = other_bucket(nodes[at].bucket, bucket.tag(slot));
      if (next == nodes[at].bucket) continue;
      nodes[count] = {next, static_cast<int16_t>(at), slot};
      if (matches(buckets_[next], 0) == 0) {
        ++count;
        continue;
      }
      // A chain that visits a bucket twice may find its own slot taken; then the search fails.
      for (int step = count; nodes[step].parent >= 0; step = nodes[step].parent) {
        Bucket& from = buckets_[nodes[nodes[step].parent].bucket];
        const uint16_t moving = nodes[step].slot;
        if (!place(nodes[step].bucket, from.tag(moving), from.id(moving))) return false;
        from.empty(moving);
        *freed = nodes[nodes[step].parent].bucket;
      }
      return true;
    }
  }
  return false;
}

bool Index::erase(uint64_t hash, EntryId id) {
  const uint32_t tag = tag_of(hash);
  const uint32_t first = first_bucket(hash);
  for (const uint32_t bucket_at : {first, other_bucket(first, tag)}) {
    Bucket& bucket = buckets_[bucket_at];
    for (uint32_t mask = matches(bucket, tag); mask != 0; mask &= mask - 1) {
      const uint32_t slot = first_of(mask);
      if (bucket.id(slot) != id) continue;
      bucket.empty(slot);
      --used_;
      return true;
    }
  }
  return false;
}

int Index::alike(uint64_t hash, EntryId* ids) const {
  int count = 0;
  const uint32_t tag = tag_of(hash);
  const uint32_t first = first_bucket(hash);
  const uint32_t second = other_bucket(first, tag);
  for (const uint32_t bucket_at : {first, second}) {
    const Bucket& bucket = buckets_[bucket_at];
    for (uint32_t mask = matches(bucket, tag); mask != 0; mask &= mask - 1) {
      if (ids != nullptr) ids[count] = bucket.id(first_of(mask));
      ++count;
    }
    if (second == first) break;
  }
  return count;
}

int Index::path(uint64_t hash, EntryId* ids) const {
  int count = 0;
  const uint32_t first = first_bucket(hash);
  const uint32_t second = other_bucket(first, tag_of(hash));
  for (const uint32_t bucket_at : {first, second}) {
    const Bucket& bucket = buckets_[bucket_at];
    for (uint32_t slot = 0; slot < slots_per_bucket; ++slot) {
      if (bucket.tag(slot) != 0) ids[count++] = bucket.id(slot);
    }
    if (second == first) break;
  }
  return count;
}

}  // namespace nearcache
