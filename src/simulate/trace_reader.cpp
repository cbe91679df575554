// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/trace_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/options.h"

namespace nearcache::simulate {
namespace {

// No get, write or window of a real program reaches this far. Below this limit, sums of
// displacements and sizes cannot overflow.
constexpr uint64_t far_away = uint64_t{1} << 62;
constexpr size_t fixed_header_bytes = 32;
constexpr uint64_t most_mode = static_cast<uint64_t>(Mode::coherent);

uint64_t number(const uint8_t* from, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i) value = value << 8 | from[i];
  return value;
}

bool is_far(int64_t place) {
  return place > static_cast<int64_t>(far_away) || place < -static_cast<int64_t>(far_away);
}

// Takes a text from the front of [*at, end). Returns false if it is longer than what is there.
bool take_text(const uint8_t** at, const uint8_t* end, std::string* text) {
  if (end - *at < 4) return false;
  const uint64_t bytes = number(*at, 4);
  *at += 4;
  if (bytes > static_cast<uint64_t>(end - *at)) return false;
  text->assign(reinterpret_cast<const char*>(*at), bytes);
  *at += bytes;
  return true;
}

}  // namespace

std::string TraceReader::open(const std::string& path) {
  *this = TraceReader();
  path_ = path;
  file_.reset(fopen(path.c_str(), "rbe"));
  struct stat status;
  if (file_ == nullptr || fstat(fileno(file_.get()), &status) != 0)
    return path + ": " + strerror(errno);
  if (!S_ISREG(status.st_mode)) return path + ": not a regular file";
  file_bytes_ = static_cast<uint64_t>(status.st_size);
  const std::string wrong = read_header();
  return wrong.empty() ? wrong : path + ": " + wrong;
}

std::string TraceReader::read_header() {
  uint8_t fixed[fixed_header_bytes];
  const size_t got = fread(fixed, 1, sizeof fixed, file_.get());
  if (got < 8 || std::memcmp(fixed, trace_magic, 8) != 0)
    return "not a Nearcache trace (its first bytes are not \"NCTRACE\")";
  if (got < sizeof fixed) return "cut off inside its header";
  header_.version = static_cast<uint32_t>(number(fixed + 8, 4));
  if (header_.version != trace_version && header_.version != trace_version_of_apis) {
    return "version " + std::to_string(header_.version) +
           " of the trace format; this build reads versions " + std::to_string(trace_version) +
           " and " + std::to_string(trace_version_of_apis);
  }
  const uint64_t bytes = number(fixed + 12, 4);
  header_.rank = static_cast<uint32_t>(number(fixed + 16, 4));
  header_.ranks = static_cast<uint32_t>(number(fixed + 20, 4));
  header_.start_ns = number(fixed + 24, 8);
  if (header_.rank >= header_.ranks)
    return "its header names rank " + std::to_string(header_.rank) + " of " +
           std::to_string(header_.ranks);
  if (bytes < sizeof fixed) return "its header says it has " + std::to_string(bytes) + " bytes";
  if (bytes > file_bytes_) return "cut off inside its header";
  if (bytes > most_block_bytes) return "its header says it has " + std::to_string(bytes) + " bytes";
  std::vector<uint8_t> texts(bytes - sizeof fixed);
  if (fread(texts.data(), 1, texts.size(), file_.get()) != texts.size())
    return "cut off inside its header";
  const uint8_t* at = texts.data();
  for (std::string* text : {&header_.host, &header_.program, &header_.library, &header_.modelled}) {
    if (!take_text(&at, texts.data() + texts.size(), text))
      return "a text of its header is longer than the header";
  }
  if (header_.version == trace_version_of_apis &&
      !take_text(&at, texts.data() + texts.size(), &header_.api))
    return "a text of its header is longer than the header";
  offset_ = bytes;
  return {};
}

bool TraceReader::fail(const char* what) {
  if (error_.empty()) {
    error_ = path_ + ": " + what + " in the block at byte " + std::to_string(block_at_);
    if (!block_.empty() && at_ != nullptr)
      error_ += ", near its byte " + std::to_string(at_ - block_.data());
  }
  return false;
}

// Reads the next block. Returns false at the end of the file, at an incomplete block, and at
// damage.
bool TraceReader::next_block() {
  block_at_ = offset_;
  at_ = end_ = nullptr;
  const uint64_t left = file_bytes_ - offset_;
  if (ended_) return left == 0 ? false : fail("bytes after the end record");
  uint8_t head[trace_block_header_bytes];
  if (left < sizeof head || fread(head, 1, sizeof head, file_.get()) != sizeof head) {
    cut_short_ = true;
    return false;
  }
  if (number(head, 4) != trace_block_magic) return fail("no block begins there");
  const uint64_t bytes = number(head + 4, 4);
  if (bytes > most_block_bytes) return fail("an impossible size");
  block_.resize(bytes);
  if (bytes > left - sizeof head || fread(block_.data(), 1, bytes, file_.get()) != bytes) {
    cut_short_ = true;
    return false;
  }
  records_left_ = static_cast<uint32_t>(number(head + 8, 4));
  ns_ = number(head + 16, 8);
  dropped_ += number(head + 24, 8);
  at_ = block_.data();
  end_ = at_ + bytes;
  offset_ += sizeof head + bytes;
  selected_ = TraceEvent::no_window;
  last_target_ = 0;
  last_displacement_ = 0;
  return true;
}

bool TraceReader::next(TraceEvent* event) {
  if (!error_.empty() || cut_short_ || file_ == nullptr) return false;
  for (bool shown = false; !shown;) {
    while (at_ == end_) {
      if (at_ != nullptr && records_left_ != 0) return fail("fewer records than announced");
      if (!next_block()) return false;
    }
    if (ended_) return fail("records after the end record");
    if (records_left_ == 0) return fail("more records than announced");
    --records_left_;
    shown = true;
    if (!decode(event, &shown)) return fail("bytes that are not a record");
  }
  return true;
}

bool TraceReader::decode(TraceEvent* event, bool* shown) {
  const uint8_t head = *at_++;
  event->kind = static_cast<TraceKind>(head & 7);
  event->detail = head >> 3;
  event->window = selected_;
  event->ns = ns_;
  uint64_t value = 0;
  switch (event->kind) {
    case TraceKind::get:
      return decode_get(event, head >> 3);
    case TraceKind::sync:
      return decode_sync(event);
    case TraceKind::write:
      return decode_write(event);
    case TraceKind::window:
      return decode_window(event, shown);
    case TraceKind::cost:
      return event->detail < trace_costs && field(&event->bytes) && field(&event->value);
    case TraceKind::owner_write:
      if (!need_window(event) || !field(&value) || !field(&event->bytes) || !field(&event->value))
        return false;
      if (value > far_away || event->bytes > far_away) return false;
      event->displacement = static_cast<int64_t>(value);
      return true;
    case TraceKind::time:
      *shown = shows_times_;
      if (!field(&value)) return false;
      ns_ += value;
      event->ns = ns_;
      return true;
    case TraceKind::end:
      ended_ = true;
      if (!field(&value) || !field(&event->value) || !field(&event->bytes)) return false;
      ns_ = std::max(ns_, value);
      event->ns = ns_;
      dropped_ = std::max(dropped_, event->bytes);
      return true;
  }
  return false;
}

bool TraceReader::need_window(TraceEvent* event) {
  event->window = selected_;
  return selected_ != TraceEvent::no_window;
}

// Decodes target, displacement and size of a get or write, relative to the last one.
bool TraceReader::decode_place(TraceEvent* event) {
  uint64_t target = 0, displacement = 0;
  if (!need_window(event) || !field(&target) || !field(&displacement) || !field(&event->bytes))
    return false;
  last_target_ += static_cast<uint32_t>(unzigzag(target));
  last_displacement_ += static_cast<uint64_t>(unzigzag(displacement));
  event->target = last_target_;
  event->displacement = static_cast<int64_t>(last_displacement_);
  return true;
}

bool TraceReader::decode_get(TraceEvent* event, unsigned detail) {
  event->detail = detail & 15;
  if (event->detail >= outcome_count || !decode_place(event)) return false;
  if (is_far(event->displacement) || event->bytes > far_away) return false;
  event->layout = 0;
  event->from = event->displacement;
  event->to = event->from + static_cast<int64_t>(event->bytes);
  if ((detail & 16) == 0) return true;
  uint64_t layout = 0, lowest = 0, span = 0;
  if (!field(&layout) || !field(&lowest) || !field(&span)) return false;
  const int64_t below = unzigzag(lowest);
  if (layout > UINT32_MAX || is_far(below) || is_far(event->displacement + below) ||
      span > far_away)
    return false;
  event->layout = static_cast<uint32_t>(layout);
  event->from = event->displacement + below;
  event->to = event->from + static_cast<int64_t>(span);
  return true;
}

// A write with an unknown range is recorded as covering everything: its end is clamped, not
// rejected.
bool TraceReader::decode_write(TraceEvent* event) {
  if (event->detail > static_cast<uint8_t>(TraceWrite::fetch) || !decode_place(event)) return false;
  event->from = event->displacement;
  const auto end = static_cast<__int128>(event->from) + event->bytes;
  event->to = end > INT64_MAX ? INT64_MAX : static_cast<int64_t>(end);
  return true;
}

bool TraceReader::decode_sync(TraceEvent* event) {
  uint64_t target = 0;
  if (event->detail >= trace_syncs || !field(&target) || target > uint64_t{INT32_MAX} + 1)
    return false;
  event->sync_target = static_cast<int64_t>(target) - 1;
  return event->detail == static_cast<uint8_t>(TraceSync::acquire) || need_window(event);
}

// Returns the index of a window. If its creation was dropped, the window starts at its first use.
uint32_t TraceReader::window_of(uint64_t id) {
  const auto [found, is_new] =
      window_by_id_.try_emplace(id, static_cast<uint32_t>(windows_.size()));
  if (is_new) windows_.emplace_back().id = id;
  return found->second;
}

bool TraceReader::decode_created(TraceEvent* event) {
  TraceWindowInfo info;
  uint64_t rank = 0, ranks = 0, unit = 0, mode = 0, name_bytes = 0;
  if (!field(&info.id) || !field(&rank) || !field(&ranks) || !field(&info.own_bytes) ||
      !field(&unit) || !field(&mode) || !field(&name_bytes))
    return false;
  if (name_bytes > static_cast<uint64_t>(end_ - at_)) return false;
  if (ranks > INT32_MAX || rank >= ranks || unit > far_away || mode > most_mode ||
      info.own_bytes > far_away)
    return false;
  info.announced = true;
  info.rank = static_cast<uint32_t>(rank);
  info.ranks = static_cast<uint32_t>(ranks);
  info.unit = static_cast<int64_t>(unit);
  info.mode = static_cast<uint8_t>(mode);
  info.name.assign(reinterpret_cast<const char*>(at_), name_bytes);
  at_ += name_bytes;
  event->window = static_cast<uint32_t>(windows_.size());
  event->value = mode;
  window_by_id_[info.id] = event->window;
  windows_.push_back(std::move(info));
  return true;
}

bool TraceReader::decode_window(TraceEvent* event, bool* shown) {
  uint64_t id = 0;
  switch (event->detail) {
    case static_cast<uint8_t>(TraceWindow::created):
      return decode_created(event);
    case static_cast<uint8_t>(TraceWindow::select):
      *shown = false;
      if (!field(&id)) return false;
      selected_ = window_of(id);
      return true;
    case static_cast<uint8_t>(TraceWindow::freed):
      if (!field(&id)) return false;
      event->window = window_of(id);
      return true;
    case static_cast<uint8_t>(TraceWindow::mode):
      if (!field(&id) || !field(&event->value) || event->value > most_mode) return false;
      event->window = window_of(id);
      return true;
    default:
      return false;
  }
}

}  // namespace nearcache::simulate
