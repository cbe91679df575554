#include "page_model.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "cache/page/page_cache.h"
#include "input.h"
#include "lazy_transport.h"

namespace nearcache::test {
namespace {

constexpr int pes = 3;
constexpr uint64_t base = (1 << 20) + 40;  // not the beginning of a line
constexpr size_t memory_bytes = 12000;
// Two segments with a hole between them; neither ends at a line boundary.
const std::vector<Extent> segments{{base, base + 7001}, {base + 7600, base + memory_bytes}};

using Bytes = std::vector<uint8_t>;

// What a read may return besides the newest value.
struct Known {
  uint8_t newest = 0;
  std::vector<uint8_t> older;  // may be served until the next acquire or quiet
  bool foreign = false;        // written by others since the last acquire; theirs until then
  bool direct = false;         // a direct put to it may be in flight
};

class Model {
 public:
  explicit Model(Input input) : input_(input), known_(pes * memory_bytes) {
    const uint32_t flags = input_.byte();
    const Laziness laziness = static_cast<Laziness>(std::min(flags % 4, 2u));
    net_ = std::make_unique<LazyTransport>(pes, base, memory_bytes, segments, laziness,
                                           input_.below(65536));
    net_->extents_known((flags & 4) == 0);
    PageCacheOptions options;
    options.page = size_t{256} << (flags >> 3) % 3;
    options.line = std::max<size_t>(8, options.page / 64) << input_.byte() % 4;
    options.size = options.page * (4 + input_.byte() % 13);
    const uint32_t more = input_.byte();
    options.dirty_pages = 1 + more % 4;
    options.readahead = size_t{512} * (input_.byte() % 9);
    if (flags & 128) options = PageCacheOptions();
    unlocked_ = options.unlocked_hits = (more & 128) != 0;
    const uint64_t line = base / options.line * options.line + 3 * options.line;
    if (more & 64) net_->leave_uncached({line, line + options.line});
    ok_ = cache_.create(options, net_.get());
    for (int pe = 0; pe < pes; ++pe) {
      for (uint64_t at = base; at < base + memory_bytes; ++at)
        known(at, pe).newest = net_->memory(at, pe);
    }
  }

  std::string run() {
    if (!ok_) return "no memory for the cache";
    for (int step = 0; !input_.empty() && wrong_.empty(); ++step) {
      operation_ = input_.byte() % 32;
      perform();
      if (const char* broken = cache_.broken(); broken != nullptr) fail(broken);
      if (!net_->wrong().empty()) fail(net_->wrong());
      if (!wrong_.empty())
        wrong_ = "step " + std::to_string(step) + ", operation " + std::to_string(operation_) +
                 ": " + wrong_;
    }
    if (wrong_.empty()) finish();
    return wrong_;
  }

 private:
  struct Range {
    int pe;
    uint64_t address;
    size_t bytes;
  };

  void perform() {
    switch (operation_) {
      case 16:
        return acquire();
      case 17:
        return release();
      case 18:
        return fence();
      case 19:
        return quiet();
      case 20:
        return prefetch();
      case 21:
        return direct_get();
      case 22:
        return direct_put();
      case 23:
        return direct_update();
      case 24:
        return input_.byte() % 4 == 0 ? forget() : others_write();
      case 25:
        return scan();
      case 26:
      case 27:
        return others_write();
      case 28:
        return repeat_get();
      case 29:
        return others_write_all_then_acquire();
      case 30:
        return direct_fetch();
      case 31:
        return other_context_fetches();
      default:
        return operation_ < 9 ? get() : put();
    }
  }

  void fail(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  Known& known(uint64_t address, int pe) {
    return known_[static_cast<size_t>(pe) * memory_bytes + (address - base)];
  }
  uint8_t next_value() { return value_ = static_cast<uint8_t>(value_ * 5 + 77); }

  // Mostly short and often at the same places, now and then long; within one segment.
  Range range(size_t longest) {
    const uint32_t how = input_.byte();
    const Extent& segment = segments[how % 8 == 0];
    const size_t space = segment.end - segment.begin;
    size_t bytes =
        1 + (how & 16 ? input_.below(static_cast<uint32_t>(longest)) : input_.byte() % 24);
    bytes = std::min({bytes, longest, space});
    size_t from = how & 32   ? input_.below(600)
                  : how & 64 ? input_.below(static_cast<uint32_t>(space))
                             : space - 1 - input_.byte();
    from = std::min(from, space - bytes);
    return {static_cast<int>(input_.byte() % (how & 128 ? 1 : pes)), segment.begin + from, bytes};
  }

  void compare(const char* what, const Range& range, const Bytes& read) {
    for (size_t i = 0; i < range.bytes; ++i) {
      const Known& byte = known(range.address + i, range.pe);
      if (read[i] == byte.newest || std::count(byte.older.begin(), byte.older.end(), read[i]) != 0)
        continue;
      return fail(std::string(what) + " returns a value that is not allowed for byte " +
                  std::to_string(range.address + i - base) + " of PE " + std::to_string(range.pe) +
                  ": " + std::to_string(read[i]) + ", newest is " + std::to_string(byte.newest));
    }
  }

  void read(const Range& range) {
    Bytes to(range.bytes);
    if (!net_->may_cache(range.address, range.bytes)) {
      if (quick_hit(range, to.data())) fail("serves what must not be cached");
      return direct_get(range);
    }
    const bool held = cache_.holds(range.pe, range.address, range.bytes);
    const uint64_t polls = cache_.counters().polls, calls = net_->counts().calls();
    get_from_cache(range, to.data());
    if (held && cache_.counters().polls == polls && net_->counts().waits() > calls)
      fail("waits for what it holds");
    compare("a get", range, to);
  }

  bool quick_hit(const Range& range, uint8_t* to) {
    return unlocked_ ? cache_.hit_unlocked(reader_, range.pe, range.address, to, range.bytes)
                     : cache_.hit(range.pe, range.address, to, range.bytes);
  }

  // Tries without the lock first, as one of several threads does, or reads as a single thread does.
  void get_from_cache(const Range& range, uint8_t* to) {
    if (!unlocked_) return cache_.get(range.pe, range.address, to, range.bytes);
    if (!quick_hit(range, to) && !(cache_.looked(reader_) && quick_hit(range, to)))
      cache_.get(reader_, range.pe, range.address, to, range.bytes);
  }

  void get() { read(range(700)); }

  void repeat_get() {
    const Range where = range(16);
    for (uint32_t left = input_.byte(); left > 0; --left) read(where);
  }

  void scan() {
    Range where = range(64);
    const size_t stride = 1 + input_.below(300);
    for (int i = 0; i < 24 && inside(where); ++i) {
      read(where);
      where.address += stride;
    }
  }

  static bool inside(const Range& range) {
    return std::any_of(segments.begin(), segments.end(), [&](const Extent& segment) {
      return segment.begin <= range.address && range.address + range.bytes <= segment.end;
    });
  }

  // Whether this process may write there: others have not written it since the last acquire.
  bool ours(const Range& range) {
    for (size_t i = 0; i < range.bytes; ++i) {
      if (known(range.address + i, range.pe).foreign) return false;
    }
    return true;
  }

  Bytes new_values(const Range& range) {
    Bytes from(range.bytes);
    for (size_t i = 0; i < range.bytes; ++i) {
      from[i] = next_value();
      if (from[i] == known(range.address + i, range.pe).newest) from[i] = next_value();
    }
    return from;
  }

  void put() {
    const Range where = range(500);
    if (!ours(where)) return;
    if (!net_->may_cache(where.address, where.bytes)) return direct_put(where);
    Bytes from = new_values(where);
    net_->program_writes(where.address, from.data(), from.size(), where.pe);
    for (size_t i = 0; i < where.bytes; ++i) {
      Known& byte = known(where.address + i, where.pe);
      byte.newest = from[i];
      byte.older.clear();
    }
    cache_.put(where.pe, where.address, from.data(), from.size());
    net_->program_wrote(where.address, from.size(), where.pe);
    if (net_->owed(where.address, where.pe) && !cache_.dirty())
      fail("dirty() denies what is not put");
    std::fill(from.begin(), from.end(), 0);
  }

  void prefetch() {
    Range where = range(3000);
    // May extend beyond the end of its segment, but not with unknown extents, where the front end
    // must prevent it.
    if (input_.byte() % 4 == 0 && segments_known()) where.bytes += 5000;
    const uint64_t waits = net_->counts().waits();
    cache_.prefetch(where.pe, where.address, where.bytes);
    if (net_->counts().waits() != waits) fail("a prefetch waits");
  }
  bool segments_known() { return net_->extent(base, 1, 1).end != 0; }

  void acquire() {
    cache_.acquire();
    for (Known& byte : known_) {
      byte.foreign = false;
      if (!byte.direct) byte.older.clear();
    }
  }

  // After a quiet, direct puts are complete; what was read before a write by others may still be
  // served.
  void completed() {
    if (net_->anything_under_way()) fail("something is under way after a quiet");
    for (Known& byte : known_) {
      if (byte.direct && !byte.foreign) byte.older.clear();
      byte.direct = false;
    }
  }

  void check_put() {
    if (net_->anything_owed()) fail("something is not put");
    if (cache_.dirty()) fail("dirty() after everything was put");
  }

  void release() {
    cache_.release();
    check_put();
    if (cache_.in_flight()) fail("in_flight() after a release");
    completed_if_quiet();
  }
  // A release with nothing to do need not call quiet; direct puts may then still be in flight.
  void completed_if_quiet() {
    if (!net_->anything_under_way()) completed();
  }

  void quiet() {
    cache_.start_write_back();
    check_put();
    net_->quiet();
    cache_.quieted();
    if (cache_.in_flight()) fail("in_flight() after a quiet");
    cache_.flag_may_follow();
    completed();
  }

  void fence() {
    cache_.start_write_back();
    check_put();
    net_->fence();
    cache_.flag_may_follow();
  }

  void direct_get() { direct_get(range(2000)); }
  void direct_get(const Range& where) {
    Bytes to(where.bytes);
    cache_.before_direct_get(where.pe, where.address, where.bytes);
    net_->get(to.data(), where.address, where.bytes, where.pe);
    compare("a direct get", where, to);
  }

  void wrote_directly(uint64_t address, int pe, uint8_t value) {
    Known& byte = known(address, pe);
    byte.older.push_back(byte.newest);
    byte.newest = value;
    byte.direct = true;
  }

  // Puts to the same place need a fence between them, issued by the front end or by the program.
  void order_direct(const Range& where) {
    for (size_t i = 0; i < where.bytes; ++i) {
      if (known(where.address + i, where.pe).direct) return net_->fence();
    }
  }

  void direct_put() {
    const Range where = range(2000);
    if (ours(where)) direct_put(where);
  }
  // As the front end does: it tries a quick put first if the bytes must not be cached, too.
  void direct_put(const Range& where) {
    order_direct(where);
    const Bytes from = new_values(where);
    if (!net_->may_cache(where.address, where.bytes) &&
        cache_.put_quickly(where.pe, where.address, from.data(), from.size()))
      return fail("a quick put writes what must not be cached");
    cache_.before_direct_put(where.pe, where.address, where.bytes);
    for (size_t i = 0; i < where.bytes; ++i) {
      wrote_directly(where.address + i, where.pe, from[i]);
    }
    net_->forget(where.address, where.bytes, where.pe);
    net_->direct_put(where.address, from.data(), from.size(), where.pe);
  }

  void direct_update() {
    const Range where = range(300);
    if (!ours(where)) return;
    order_direct(where);
    cache_.before_direct_update(where.pe, where.address, where.bytes);
    for (size_t i = 0; i < where.bytes; i += 3) {
      if (net_->owed(where.address + i, where.pe))
        return fail("a byte is dirty after before_direct_update");
      const uint8_t value = next_value();
      wrote_directly(where.address + i, where.pe, value);
      net_->direct_put(where.address + i, &value, 1, where.pe);
    }
  }

  // A fetching atomic: its change is in effect when it returns.
  void direct_fetch() {
    const Range where = range(8);
    if (!ours(where)) return;
    order_direct(where);
    cache_.before_direct_fetch(where.pe, where.address, where.bytes);
    for (size_t i = 0; i < where.bytes; ++i) {
      if (net_->owed(where.address + i, where.pe))
        return fail("a byte is dirty after before_direct_fetch");
    }
    for (size_t i = 0; i < where.bytes; ++i) {
      Known& byte = known(where.address + i, where.pe);
      byte = {next_value(), {}, false, false};
      net_->direct_fetch(where.address + i, byte.newest, where.pe);
    }
  }

  // The program changes something through another context and knows that the change is complete.
  void other_context_fetches() {
    const Range where = range(8);
    for (size_t i = 0; i < where.bytes; ++i) {
      const uint64_t at = where.address + i;
      Known& byte = known(at, where.pe);
      if (net_->owed(at, where.pe) || net_->under_way(at, where.pe)) continue;
      byte = {next_value(), {}, false, byte.direct};
      net_->memory(at, where.pe) = byte.newest;
    }
    cache_.overtaken(where.pe, where.address, where.bytes);
  }

  // Another PE may write where this process has nothing dirty or undelivered.
  void write_as_another(const Range& where) {
    for (size_t i = 0; i < where.bytes; ++i) {
      const uint64_t at = where.address + i;
      if (net_->owed(at, where.pe) || net_->under_way(at, where.pe)) continue;
      Known& byte = known(at, where.pe);
      byte.older.push_back(byte.newest);
      byte.newest = net_->memory(at, where.pe) = next_value();
      byte.foreign = true;
    }
  }
  void others_write() { write_as_another(range(1000)); }

  void others_write_all_then_acquire() {
    for (int pe = 0; pe < pes; ++pe) {
      for (const Extent& segment : segments)
        write_as_another({pe, segment.begin, segment.end - segment.begin});
    }
    acquire();
  }

  // Frees a block and allocates another in its place; its owner initialises it while nothing is in
  // flight.
  void forget() {
    Range where = range(2000);
    net_->forget(where.address, where.bytes);
    cache_.forget(where.address, where.bytes);
    net_->quiet();
    cache_.quieted();
    completed();
    for (where.pe = 0; where.pe < pes; ++where.pe) {
      for (size_t i = 0; i < where.bytes; ++i) {
        Known& byte = known(where.address + i, where.pe);
        byte = {next_value(), {}, false, false};
        net_->memory(where.address + i, where.pe) = byte.newest;
      }
    }
  }

  // At the end, the memory of every PE is what a program without a cache would have left.
  void finish() {
    operation_ = 17;
    quiet();
    for (int pe = 0; pe < pes; ++pe) {
      for (const Extent& segment : segments) {
        for (uint64_t at = segment.begin; at < segment.end; ++at) {
          if (net_->memory(at, pe) == known(at, pe).newest) continue;
          return fail("at the end a byte of memory is wrong: " + std::to_string(at - base));
        }
      }
    }
    if (!net_->wrong().empty()) fail(net_->wrong());
  }

  Input input_;
  std::unique_ptr<LazyTransport> net_;
  PageCache cache_;
  std::vector<Known> known_;
  std::string wrong_;
  uint32_t operation_ = 0;
  uint8_t value_ = 1;
  PageReader reader_;
  bool unlocked_ = false;
  bool ok_ = false;
};

}  // namespace

std::string run_page_model(const uint8_t* input, size_t size) {
  return Model(Input(input, size)).run();
}

}  // namespace nearcache::test
