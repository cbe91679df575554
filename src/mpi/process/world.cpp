// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/process/world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "mpi/process/group_ranks.h"
#include "mpi/process/insist.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

constexpr uint64_t hash_word(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0xd1342543de82ef95u;
  return sum ^ sum >> 29;
}

// of the word that says where a rank is: it has said so; the kind of its RMA engine, 0 if it has
// none; it wants a report
constexpr uint64_t known_bit = 1, engine_bits = 0xfffe, report_bit = 0x10000;
constexpr uint64_t not_of_node = engine_bits | report_bit;

// Under SimGrid's SMPI, the simulated node, of which one process has many.
std::string name_of_node() {
#ifdef NEARCACHE_FAMILY_SIMGRID
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  PMPI_Get_processor_name(name, &length);
  return name;
#else
  static const std::string& name = *new std::string(host_name());  // needed until the process ends
  return name;
#endif
}

uint64_t hash_of(std::string_view text) {
  uint64_t sum = 1;
  for (const char c : text) sum = hash_word(sum, static_cast<unsigned char>(c));
  return sum;
}

uint64_t hash_of_node() { return (hash_of(name_of_node()) & ~not_of_node) | known_bit; }

template <class Meeting>
int forget_meeting(MPI_Comm, int, void* attribute, void*) {
  delete static_cast<std::shared_ptr<Meeting>*>(attribute);
  return MPI_SUCCESS;
}

int copy_no_meeting(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

}  // namespace

bool World::model_is_open() {
  int begun = 0, ended = 0;
  next.Initialized(&begun);
  next.Finalized(&ended);
  return begun != 0 && ended == 0;
}

void World::start(int* rank, int* ranks) {
  has_model_ = model_is_open();
  group_known_ =
      has_model_ ? next.Comm_group(MPI_COMM_WORLD, &group_) == MPI_SUCCESS : start_session();
  if (!group_known_) return;
  next.Group_rank(group_, &rank_);
  next.Group_size(group_, &ranks_);
  *rank = rank_;
  *ranks = ranks_;
  const std::lock_guard lock(mutex_);
  nodes_.resize(static_cast<size_t>(ranks_), 0);
}

// Starts a session of our own, because handles of the program's sessions must not be mixed with
// ours.
bool World::start_session() {
#if defined(NEARCACHE_HAS_Session_init) && defined(NEARCACHE_HAS_Group_from_session_pset)
  if (next.Session_init == nullptr || next.Group_from_session_pset == nullptr) return false;
  if (!has_session_) {
    MPI_Info info = MPI_INFO_NULL;
    next.Info_create(&info);
    next.Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
    has_session_ = next.Session_init(info, MPI_ERRORS_RETURN, &session_) == MPI_SUCCESS;
    next.Info_free(&info);
  }
  return has_session_ &&
         next.Group_from_session_pset(session_, "mpi://WORLD", &group_) == MPI_SUCCESS;
#else
  return false;
#endif
}

void World::stop() {
  given_up();  // drops requests that are complete by now
  if (group_known_) next.Group_free(&group_);
  group_known_ = has_model_ = false;
#ifdef NEARCACHE_HAS_Session_init
  if (!has_session_) return;
  if (everybody_ != MPI_Comm{}) next.Comm_free(&everybody_);
  everybody_ = MPI_Comm{};
  has_session_ = next.Session_finalize(&session_) != MPI_SUCCESS;
#endif
}

void World::forget_keyval() {
  const std::lock_guard lock(mutex_);
  free_keyval(next.Comm_free_keyval, &meeting_keyval_);
}

std::vector<int> World::members(MPI_Comm comm) const {
  MPI_Group group = MPI_GROUP_NULL;
  if (!group_known_ || next.Comm_group(comm, &group) != MPI_SUCCESS) return {};
  const GroupRanks ranks(group, group_);
  next.Group_free(&group);
  return {ranks.all().begin(), ranks.all().end()};
}

int World::meeting_keyval() {
  const std::lock_guard lock(mutex_);
  if (meeting_keyval_ == MPI_KEYVAL_INVALID)
    next.Comm_create_keyval(copy_no_meeting, forget_meeting<Meeting>, &meeting_keyval_, nullptr);
  return meeting_keyval_;
}

std::shared_ptr<World::Meeting> World::meeting_on(MPI_Comm comm) {
  void* attribute = nullptr;
  int found = 0;
  if (next.Comm_get_attr(comm, meeting_keyval(), &attribute, &found) != MPI_SUCCESS || found == 0)
    return nullptr;
  return *static_cast<std::shared_ptr<Meeting>*>(attribute);
}

std::shared_ptr<World::Meeting> World::begin_meeting(MPI_Comm comm,
                                                     const std::vector<int>& members) {
  auto meeting = std::make_shared<Meeting>(members);
  Exchange& exchange = meeting->exchange;
  exchange.sent()[0] = hash_of_node() | engine_ | (wants_report_ ? report_bit : 0);
  if (!exchange.gather_to_all(comm)) return nullptr;
  next.Comm_set_attr(comm, meeting_keyval(), new std::shared_ptr<Meeting>(meeting));
  return meeting;
}

bool World::meet(MPI_Comm comm, const std::vector<int>& members, Met* met, uint64_t patience) {
  std::shared_ptr<Meeting> meeting = meeting_on(comm);
  if (meeting == nullptr) meeting = begin_meeting(comm, members);
  if (meeting == nullptr) return false;
  met->without_engine = meeting->without_engine;
  met->left_alone = meeting->left_alone;
  if (!have_come(meeting, patience)) return false;
  met->far = far_of(members);
  const auto engine = [](uint64_t word) { return word & engine_bits; };
  const std::vector<uint64_t>& all = meeting->exchange.received();
  met->all_have_engine = std::ranges::all_of(all, [&](uint64_t word) { return engine(word) != 0; });
  const auto other =
      std::ranges::find_if(all, [&](uint64_t word) { return engine(word) != engine(all.front()); });
  met->other_engine = other == all.end() ? -1 : static_cast<int>(other - all.begin());
  return true;
}

// No two threads create windows on the same communicator at once.
bool World::have_come(const std::shared_ptr<Meeting>& meeting, uint64_t patience) {
  const bool waits = !given_up();
  {
    const std::lock_guard lock(mutex_);
    if (meeting->over || meeting->late) return meeting->over;
  }
  const bool come = meeting->exchange.wait(waits ? patience : 0);
  const std::lock_guard lock(mutex_);
  if (come) {
    learn(meeting.get());
  } else {
    meeting->late = true;
    say_unanswered();
    late_.push_back(meeting);
  }
  return come;
}

void World::learn(Meeting* meeting) {
  for (size_t i = 0; i < meeting->members.size(); ++i) {
    const uint64_t word = meeting->exchange.received()[i];
    nodes_[static_cast<size_t>(meeting->members[i])] = word & ~not_of_node;
    if ((word & report_bit) != 0)
      first_to_report_ = std::min(first_to_report_, meeting->members[i]);
  }
  meeting->over = true;
  all_met_ = all_met_ || meeting->members.size() == nodes_.size();
}

void World::offer_engine(std::string_view kind) {
  constexpr uint64_t not_none = 2;
  engine_ = (hash_of(kind) & engine_bits) | not_none;
}

void World::do_without_engine(MPI_Comm comm) {
  if (const std::shared_ptr<Meeting> meeting = meeting_on(comm)) meeting->without_engine = true;
}

void World::leave_alone(MPI_Comm comm) {
  if (const std::shared_ptr<Meeting> meeting = meeting_on(comm)) meeting->left_alone = true;
}

std::vector<uint8_t> World::far_of(const std::vector<int>& members) {
  const uint64_t here = hash_of_node();
  std::vector<uint8_t> far(members.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < far.size(); ++i) far[i] = nodes_[static_cast<size_t>(members[i])] != here;
  most_on_node_ = std::max(most_on_node_, static_cast<uint64_t>(std::ranges::count(far, 0)));
  return far;
}

// Every process logs this, because it is unknown which others would.
void World::say_unanswered() {
  if (!late_.empty() || !unanswered_.empty()) return;
  log(LogLevel::warning,
      "rank %d: another rank of this job does not answer, as it seems to run without Nearcache: "
      "windows are left alone from now on; preload it "
      "in all programs of the job (nearcache run does)",
      rank_);
}

void World::give_up(Exchange exchange) {
  const std::lock_guard lock(mutex_);
  say_unanswered();
  unanswered_.push_back(std::move(exchange));
}

void World::leave(Exchange exchange) {
  const std::lock_guard lock(mutex_);
  left_.push_back(std::move(exchange));
}

bool World::given_up() {
  const std::lock_guard lock(mutex_);
  std::erase_if(left_, [](Exchange& each) { return each.complete(); });
  std::erase_if(unanswered_, [](Exchange& each) { return each.complete(); });
  std::erase_if(late_, [&](const std::shared_ptr<Meeting>& each) {
    if (each->exchange.complete()) learn(each.get());
    return each->over;
  });
  return !late_.empty() || !unanswered_.empty();
}

// Where a library has freed a communicator by a call that escaped us, another one may have its
// handle: what is cached of it is trusted only if it has as many ranks.
bool World::is_everybody(MPI_Comm comm) {
  if (!has_model_) return false;
  if (comm == MPI_COMM_WORLD) return true;
  int ranks = 0, inter = 0;
  if (next.Comm_size(comm, &ranks) != MPI_SUCCESS || ranks != ranks_ ||
      next.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0)
    return false;
  const std::lock_guard lock(mutex_);
  for (const auto& [known, is] : everybodies_) {
    if (known == comm) return is;
  }
  const bool is = members(comm).size() == nodes_.size();
  everybodies_.emplace_back(comm, is);
  return is;
}

void World::forget_communicators() {
  const std::lock_guard lock(mutex_);
  everybodies_.clear();
}

MPI_Comm World::everybody() {
  if (has_model_) return MPI_COMM_WORLD;
#if defined(NEARCACHE_HAS_Session_init) && defined(NEARCACHE_HAS_Comm_create_from_group)
  if (group_known_ && everybody_ == MPI_Comm{} &&
      next.Comm_create_from_group(group_, "nearcache", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &everybody_) == MPI_SUCCESS)
    return everybody_;
  if (everybody_ != MPI_Comm{}) return everybody_;
#endif
  return MPI_COMM_NULL;
}

}  // namespace nearcache::mpi
