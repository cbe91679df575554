#include "lazy_transport.h"

#include <algorithm>
#include <cstring>

namespace nearcache::test {

LazyTransport::LazyTransport(int pes, uint64_t base, size_t bytes, std::vector<Extent> segments,
                             Laziness laziness, uint64_t seed)
    : base_(base),
      size_(bytes),
      segments_(std::move(segments)),
      laziness_(laziness),
      random_(seed),
      bytes_(static_cast<size_t>(pes) * bytes) {
  for (Byte& byte : bytes_) byte.value = static_cast<uint8_t>(random_());
}

void LazyTransport::fail(const std::string& what, uint64_t address, int pe) {
  if (wrong_.empty())
    wrong_ = what + " at byte " + std::to_string(address - base_) + " of PE " + std::to_string(pe);
}

bool LazyTransport::exists(uint64_t address, size_t bytes) const {
  return std::any_of(segments_.begin(), segments_.end(), [=](const Extent& segment) {
    return segment.begin <= address && address + bytes <= segment.end;
  });
}

bool LazyTransport::check(const char* what, uint64_t address, size_t bytes, int pe) {
  if (exists(address, bytes)) return true;
  fail(std::string(what) + " of " + std::to_string(bytes) + " bytes outside of the segments",
       address, pe);
  return false;
}

bool LazyTransport::check_buffer(const void* buffer, size_t bytes) {
  const auto* from = static_cast<const uint8_t*>(buffer);
  return std::none_of(fetches_.begin(), fetches_.end(), [=](const Fetch& fetch) {
    return fetch.to < from + bytes && from < fetch.to + fetch.bytes;
  });
}

size_t LazyTransport::piece_length(size_t left) {
  return laziness_ == Laziness::random ? std::min<size_t>(left, 1 + random(48)) : left;
}

void LazyTransport::get(void* to, uint64_t address, size_t bytes, int pe) {
  if (on_wait_) on_wait_();
  ++counts_.gets;
  counts_.get_bytes += bytes;
  if (!check("get", address, bytes, pe)) return std::memset(to, 0, bytes), void();
  if (!check_buffer(to, bytes)) fail("a get into the buffer of one under way", address, pe);
  for (size_t i = 0; i < bytes;) {
    progress();
    for (const size_t end = i + piece_length(bytes - i); i < end; ++i)
      static_cast<uint8_t*>(to)[i] = byte(address + i, pe).value;
  }
}

void LazyTransport::get_nbi(void* to, uint64_t address, size_t bytes, int pe) {
  ++counts_.nbi_gets;
  counts_.get_bytes += bytes;
  if (!check("non-blocking get", address, bytes, pe)) return;
  if (!check_buffer(to, bytes))
    fail("a non-blocking get into the buffer of one under way", address, pe);
  auto* at = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(random_());
  for (size_t i = 0; i < bytes;) {
    const size_t length = piece_length(bytes - i);
    fetches_.push_back({pe, address + i, at + i, length, false, {}});
    ++unread_;
    if (laziness_ == Laziness::eager) read(fetches_.back());
    i += length;
  }
  progress();
}

void LazyTransport::read(Fetch& fetch) {
  fetch.data.resize(fetch.bytes);
  for (size_t i = 0; i < fetch.bytes; ++i) fetch.data[i] = byte(fetch.address + i, fetch.pe).value;
  fetch.read = true;
  --unread_;
}

void LazyTransport::put(uint64_t address, const void* from, size_t bytes, int pe) {
  ++counts_.puts;
  counts_.put_bytes += bytes;
  if (!check("put", address, bytes, pe)) return;
  for (size_t i = 0; i < bytes; ++i) {
    Byte& target = byte(address + i, pe);
    const uint8_t value = static_cast<const uint8_t*>(from)[i];
    if (!target.owed) fail("11: a put of what the program did not write", address + i, pe);
    const bool before = target.owed_before && value == target.before;
    target.owed_before = false;
    if (before) continue;
    if (target.owed && value != target.expected)
      fail("11: a put of a wrong value", address + i, pe);
    owed_ -= target.owed;
    target.owed = false;
  }
  send(address, from, bytes, pe);
}

void LazyTransport::direct_put(uint64_t address, const void* from, size_t bytes, int pe) {
  if (check("direct put", address, bytes, pe)) send(address, from, bytes, pe);
}

void LazyTransport::direct_fetch(uint64_t address, uint8_t value, int pe) {
  if (!check("atomic", address, 1, pe)) return;
  if (under_way(address, pe) && byte(address, pe).put_epoch == epoch_)
    fail("12: an atomic and a put that nothing orders", address, pe);
  for (size_t i = 0; i < pieces_.size();) {
    if (pieces_[i].pe == pe && pieces_[i].epoch < epoch_) {
      deliver(i);
    } else {
      ++i;
    }
  }
  byte(address, pe).value = value;
}

void LazyTransport::send(uint64_t address, const void* from, size_t bytes, int pe) {
  const auto* at = static_cast<const uint8_t*>(from);
  for (size_t i = 0; i < bytes; ++i) {
    Byte& target = byte(address + i, pe);
    if (target.put_epoch == epoch_) fail("12: two puts that nothing orders", address + i, pe);
    target.put_epoch = epoch_;
    ++target.undelivered;
  }
  for (size_t i = 0; i < bytes;) {
    const size_t length = piece_length(bytes - i);
    pieces_.push_back({pe, address + i, epoch_, {at + i, at + i + length}});
    if (laziness_ == Laziness::eager) deliver(pieces_.size() - 1);
    i += length;
  }
  progress();
}

// Pieces are delivered in the order of their epochs.
bool LazyTransport::deliverable(size_t index) const {
  const auto first = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.pe == pieces_[index].pe;
  });
  return first->epoch == pieces_[index].epoch;
}

void LazyTransport::deliver(size_t index) {
  const Piece piece = std::move(pieces_[index]);
  pieces_.erase(pieces_.begin() + static_cast<ptrdiff_t>(index));
  for (size_t i = 0; i < piece.data.size(); ++i) {
    Byte& target = byte(piece.address + i, piece.pe);
    target.value = piece.data[i];
    --target.undelivered;
  }
}

// Carries out some of the operations in flight.
void LazyTransport::progress() {
  if (laziness_ != Laziness::random) return;
  while (pieces_.size() + unread_ != 0 && random(3) == 0) {
    if (const size_t index = random(pieces_.size() + fetches_.size()); index < pieces_.size()) {
      if (deliverable(index)) deliver(index);
    } else if (Fetch& fetch = fetches_[index - pieces_.size()]; !fetch.read) {
      read(fetch);
    }
  }
}

// Carries out all operations in flight, gets and puts in any order that the fences allow.
void LazyTransport::complete() {
  while (!pieces_.empty() || unread_ != 0) {
    if (!pieces_.empty() && (unread_ == 0 || random(2) == 0)) {
      const size_t index = random(pieces_.size());
      deliver(deliverable(index) ? index : 0);
    } else {
      read(*std::find_if(fetches_.begin(), fetches_.end(),
                         [](const Fetch& fetch) { return !fetch.read; }));
    }
  }
  for (const Fetch& fetch : fetches_) std::memcpy(fetch.to, fetch.data.data(), fetch.bytes);
  fetches_.clear();
}

void LazyTransport::fence() {
  ++counts_.fences;
  ++epoch_;
  progress();
}

void LazyTransport::quiet() {
  if (on_wait_) on_wait_();
  ++counts_.quiets;
  complete();
  ++epoch_;
}

Extent LazyTransport::extent(uint64_t address, size_t bytes, int) {
  if (!extents_known_ || !may_cache(address, bytes)) return {};
  for (Extent segment : segments_) {
    if (address < segment.begin || segment.end <= address) continue;
    if (uncached_.end <= address) segment.begin = std::max(segment.begin, uncached_.end);
    if (address < uncached_.begin) segment.end = std::min(segment.end, uncached_.begin);
    return segment;
  }
  return {};
}

bool LazyTransport::may_cache(uint64_t address, size_t bytes) {
  return address >= uncached_.end || address + bytes <= uncached_.begin;
}

void LazyTransport::program_writes(uint64_t address, const void* from, size_t bytes, int pe) {
  for (size_t i = 0; i < bytes; ++i) {
    Byte& target = byte(address + i, pe);
    owed_ += !target.owed;
    target.owed_before = target.owed;
    target.before = target.expected;
    target.owed = true;
    target.expected = static_cast<const uint8_t*>(from)[i];
  }
}

void LazyTransport::program_wrote(uint64_t address, size_t bytes, int pe) {
  for (size_t i = 0; i < bytes; ++i) byte(address + i, pe).owed_before = false;
}

void LazyTransport::forget(uint64_t address, size_t bytes, int pe) {
  for (size_t i = 0; i < bytes; ++i) {
    Byte& target = byte(address + i, pe);
    owed_ -= target.owed;
    target.owed = false;
  }
}

void LazyTransport::forget(uint64_t address, size_t bytes) {
  for (int pe = 0; static_cast<size_t>(pe) * size_ < bytes_.size(); ++pe)
    forget(address, bytes, pe);
}

}  // namespace nearcache::test
