// SPDX-License-Identifier: BSD-3-Clause
#include "telemetry/trace_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

namespace nearcache {
namespace {

void append_number(std::vector<uint8_t>* to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void append_text(std::vector<uint8_t>* to, const std::string& text) {
  append_number(to, text.size(), 4);
  to->insert(to->end(), text.begin(), text.end());
}

std::vector<uint8_t> header_of(const TraceOrigin& origin) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  std::vector<uint8_t> texts;
  for (const std::string* text : {&origin.host, &origin.program, &origin.library, &origin.modelled})
    append_text(&texts, *text);
  if (!origin.api.empty()) append_text(&texts, origin.api);
  std::vector<uint8_t> header(trace_magic, trace_magic + 8);
  constexpr size_t fixed = 8 + 4 * 4 + 8;
  append_number(&header, origin.api.empty() ? trace_version : trace_version_of_apis, 4);
  append_number(&header, fixed + texts.size(), 4);
  append_number(&header, origin.rank, 4);
  append_number(&header, origin.ranks, 4);
  append_number(
      &header, static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec),
      8);
  header.insert(header.end(), texts.begin(), texts.end());
  return header;
}

void store_number(uint8_t* at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

// Stores the sizes in a block's header.
void store_sizes(uint8_t* block, uint64_t bytes, uint64_t records) {
  store_number(block + 4, bytes - trace_block_header_bytes, 4);
  store_number(block + 8, records, 4);
}

// Blocks signals while the thread is created: the program's signals are not for our thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

TraceWriter::~TraceWriter() { close(); }

std::string TraceWriter::open(const std::string& path, const TraceOrigin& origin) {
  home_.settle();
  // O_NONBLOCK: does not wait for a reader of a FIFO. Later the thread may wait for a slow one.
  file_ =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
  if (file_ < 0) return errno == ENXIO ? "nobody reads it" : strerror(errno);
  fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) & ~O_NONBLOCK);
  seekable_ = lseek(file_, 0, SEEK_CUR) == 0;
  start_ns_ = system_ns();
  const std::vector<uint8_t> header = header_of(origin);
  pool_.resize(blocks);
  for (Block& block : pool_) {
    block.bytes.resize(block_bytes);
    free_.push_back(&block);
  }
  current_ = free_.back();
  free_.pop_back();
  start_block();
  std::string wrong = write_all(header.data(), header.size()) ? std::string() : strerror(errno);
  if (wrong.empty()) {
    const SignalsBlocked blocked;
    try {
      writing_->thread = std::thread([this] { write_blocks(); });
    } catch (const std::system_error& error) {
      wrong = error.what();
    }
  }
  if (!wrong.empty()) {
    struct stat status {};
    if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) unlink(path.c_str());
    ::close(file_);
    file_ = -1;
    return wrong;
  }
  return {};
}

std::string TraceWriter::close() {
  if (file_ < 0) return {};
  if (!home_.here()) {
    [[maybe_unused]] const Writing* left_alone = writing_.release();
    ::close(std::exchange(file_, -1));
    return {};
  }
  room();
  head(TraceKind::end, 0);
  field(now_ns());
  field(gets_);
  field(dropped_);
  end_record();
  finish_block();
  {
    const std::lock_guard lock(writing_->mutex);
    full_.push_back(current_);
    complete_.store(0, std::memory_order_relaxed);
    closing_ = true;
  }
  writing_->work.notify_one();
  writing_->thread.join();
  if (::close(file_) != 0 && error_ == 0) error_ = errno;
  file_ = -1;
  return error_ == 0 ? std::string() : strerror(error_);
}

void TraceWriter::start_block() {
  begin_ = current_->bytes.data();
  at_ = begin_ + trace_block_header_bytes;
  end_ = begin_ + block_bytes;
  records_ = 0;
  window_ = no_window;
  last_target_ = last_displacement_ = 0;
  last_was_acquire_ = false;
  last_ns_ = now_ns();
  store_number(begin_, trace_block_magic, 4);
  store_sizes(begin_, trace_block_header_bytes, 0);
  store_number(begin_ + 12, 0, 4);
  store_number(begin_ + 16, last_ns_, 8);
  store_number(begin_ + 24, dropped_before_, 8);
}

void TraceWriter::finish_block() {
  current_->used = static_cast<size_t>(at_ - begin_);
  store_sizes(begin_, current_->used, records_);
}

// Hands the full block to the thread if a free block is available; otherwise drops its records.
void TraceWriter::next_block() {
  finish_block();
  bool kept = false;
  {
    const std::lock_guard lock(writing_->mutex);
    complete_.store(0, std::memory_order_relaxed);
    if (!free_.empty()) {
      full_.push_back(current_);
      current_ = free_.back();
      free_.pop_back();
      kept = true;
    }
  }
  if (kept) {
    writing_->work.notify_one();
    dropped_before_ = 0;
  } else {
    dropped_ += records_;
    dropped_before_ += records_;
  }
  start_block();
}

void TraceWriter::write_blocks() {
  Writing& writing = *writing_;
  std::unique_lock lock(writing.mutex);
  for (;;) {
    const bool due = !writing.work.wait_for(lock, std::chrono::milliseconds(unwritten_ms),
                                            [this] { return !full_.empty() || closing_; });
    if (due) {
      write_part(&lock);
      continue;
    }
    if (full_.empty()) return;
    Block* block = full_.front();
    full_.erase(full_.begin());
    lock.unlock();
    const bool written = write_all(block->bytes.data(), block->used);
    const int error = errno;
    lock.lock();
    if (!written && error_ == 0) error_ = error;
    free_.push_back(block);
  }
}

// Writes the complete part of the block that is being filled. It is called while all other blocks
// are free, so the block will not be dropped, and its complete part does not change until this
// thread has written the whole block.
void TraceWriter::write_part(std::unique_lock<std::mutex>* lock) {
  const uint64_t complete = complete_.load(std::memory_order_acquire);
  const size_t bytes = complete >> 32;
  if (!seekable_ || bytes == part_bytes_ || bytes == 0) return;
  const uint8_t* block = current_->bytes.data();
  lock->unlock();
  uint8_t header[trace_block_header_bytes];
  store_number(header, trace_block_magic, 4);
  store_sizes(header, bytes, complete & UINT32_MAX);
  store_number(header + 12, 0, 4);
  std::memcpy(header + 16, block + 16, 16);
  // One system call, so that a run killed at this moment leaves either the whole part or nothing.
  const iovec pieces[] = {{header, sizeof header},
                          {const_cast<uint8_t*>(block) + sizeof header, bytes - sizeof header}};
  if (pwritev(file_, pieces, 2, place_) == static_cast<ssize_t>(bytes)) part_bytes_ = bytes;
  lock->lock();
}

bool TraceWriter::write_all(const uint8_t* from, size_t bytes) {
  part_bytes_ = 0;
  while (bytes > 0) {
    const ssize_t done =
        seekable_ ? ::pwrite(file_, from, bytes, place_) : ::write(file_, from, bytes);
    if (done < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    from += done;
    place_ += done;
    bytes -= static_cast<size_t>(done);
  }
  return true;
}

void TraceWriter::select(uint64_t window) {
  head(TraceKind::window, static_cast<unsigned>(TraceWindow::select));
  field(window);
  end_record();
  window_ = window;
}

void TraceWriter::time() {
  const uint64_t now = now_ns();
  head(TraceKind::time, 0);
  field(now - last_ns_);
  end_record();
  last_ns_ = now;
}

void TraceWriter::get(uint64_t window, Outcome outcome, uint32_t target, int64_t displacement,
                      uint64_t bytes, uint32_t layout, int64_t lowest, uint64_t span) {
  begin(window);
  if ((++gets_ & 31) == 0) time();
  put_get(trace_head(TraceKind::get, static_cast<unsigned>(outcome) | 16u), target, displacement,
          bytes);
  field(layout);
  field(zigzag_between(displacement, lowest));
  field(span);
  end_record();
}

void TraceWriter::sync(uint64_t window, TraceSync kind, int target) {
  begin(window);
  // Calls that may end a phase have a time of their own.
  if (kind != TraceSync::flush && kind != TraceSync::flush_local && kind != TraceSync::request)
    time();
  put_sync(kind, target);
}

void TraceWriter::acquire() {
  if (last_was_acquire_) return;
  room();
  time();
  head(TraceKind::sync, static_cast<unsigned>(TraceSync::acquire));
  field(0);
  end_record();
  last_was_acquire_ = true;
}

void TraceWriter::write(uint64_t window, TraceWrite kind, uint32_t target, int64_t displacement,
                        uint64_t bytes) {
  begin(window);
  time();
  put_get(trace_head(TraceKind::write, static_cast<unsigned>(kind)), target, displacement, bytes);
  end_record();
}

void TraceWriter::window_created(const TracedWindow& window) {
  room();
  time();
  const size_t characters = std::min<size_t>(window.name.size(), 64);
  head(TraceKind::window, static_cast<unsigned>(TraceWindow::created));
  for (const uint64_t value :
       {window.id, uint64_t{window.rank}, uint64_t{window.ranks}, window.own_bytes, window.unit,
        uint64_t{window.mode}, uint64_t{characters}})
    field(value);
  std::memcpy(at_, window.name.data(), characters);
  at_ += characters;
  end_record();
}

void TraceWriter::window_freed(uint64_t id) {
  room();
  time();
  head(TraceKind::window, static_cast<unsigned>(TraceWindow::freed));
  field(id);
  end_record();
}

void TraceWriter::window_mode(uint64_t id, uint8_t mode) {
  room();
  head(TraceKind::window, static_cast<unsigned>(TraceWindow::mode));
  field(id);
  field(mode);
  end_record();
}

void TraceWriter::cost(uint64_t bytes, uint64_t ns, TraceCost what) {
  room();
  head(TraceKind::cost, static_cast<unsigned>(what));
  field(bytes);
  field(ns);
  end_record();
}

void TraceWriter::owner_write(uint64_t window, uint64_t first, uint64_t bytes, uint64_t within_ns) {
  begin(window);
  time();
  head(TraceKind::owner_write, 0);
  field(first);
  field(bytes);
  field(within_ns);
  end_record();
}

}  // namespace nearcache
