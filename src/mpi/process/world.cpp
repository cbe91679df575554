#include "mpi/process/world.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/environment.h"
#include "base/log.h"
#include "mpi/process/next.h"

namespace nearcache::mpi {
namespace {

constexpr uint64_t hash_word(uint64_t sum, uint64_t word) {
  sum = (sum ^ word) * 0xd1342543de82ef95u;
  return sum ^ sum >> 29;
}

// In SimGrid's SMPI the simulated one.
std::string name_of_node() {
#ifdef NEARCACHE_FAMILY_SIMGRID
  char name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  PMPI_Get_processor_name(name, &length);
  return name;
#else
  return host_name();
#endif
}

uint64_t hash_of_node() {
  uint64_t sum = 1;
  for (const char c : name_of_node()) sum = hash_word(sum, static_cast<unsigned char>(c));
  return sum | 1;
}

uint64_t hash_of(const std::vector<int>& members) {
  return std::accumulate(members.begin(), members.end(), uint64_t{members.size()},
                         [](uint64_t sum, int rank) { return hash_word(sum, static_cast<uint64_t>(rank) + 1); });
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
  group_known_ = has_model_ ? next.Comm_group(MPI_COMM_WORLD, &group_) == MPI_SUCCESS : start_session();
  if (!group_known_) return;
  next.Group_rank(group_, &rank_);
  next.Group_size(group_, &ranks_);
  *rank = rank_;
  *ranks = ranks_;
  const std::lock_guard lock(mutex_);
  nodes_.resize(static_cast<size_t>(ranks_), 0);
}

// A session of our own, as handles of the program's sessions must not be mixed with ours.
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
  return has_session_ && next.Group_from_session_pset(session_, "mpi://WORLD", &group_) == MPI_SUCCESS;
#else
  return false;
#endif
}

void World::stop() {
  if (group_known_) next.Group_free(&group_);
  group_known_ = has_model_ = false;
#ifdef NEARCACHE_HAS_Session_init
  if (!has_session_) return;
  if (everybody_ != MPI_Comm{}) next.Comm_free(&everybody_);
  everybody_ = MPI_Comm{};
  has_session_ = next.Session_finalize(&session_) != MPI_SUCCESS;
#endif
}

std::vector<int> World::members(MPI_Comm comm) const {
  MPI_Group group = MPI_GROUP_NULL;
  int size = 0;
  if (!group_known_ || next.Comm_group(comm, &group) != MPI_SUCCESS) return {};
  next.Group_size(group, &size);
  std::vector<int> here(static_cast<size_t>(size)), there(here.size(), MPI_UNDEFINED);
  std::iota(here.begin(), here.end(), 0);
  const int rc = next.Group_translate_ranks(group, size, here.data(), group_, there.data());
  next.Group_free(&group);
  if (rc != MPI_SUCCESS || std::ranges::find(there, MPI_UNDEFINED) != there.end()) return {};
  return there;
}

bool World::meet(MPI_Comm comm, const std::vector<int>& members, std::vector<uint8_t>* far, uint64_t patience) {
  const uint64_t group = hash_of(members);
  bool met = false;
  {
    const std::lock_guard lock(mutex_);
    met = met_.contains(group);
  }
  if (!met) {
    Exchange exchange(1, members.size());
    exchange.sent()[0] = hash_of_node();
    if (next.Iallgather(exchange.sent().data(), 1, MPI_UINT64_T, exchange.received().data(), 1, MPI_UINT64_T, comm,
                        exchange.request()) != MPI_SUCCESS)
      return false;
    if (!exchange.wait(patience)) {
      give_up(std::move(exchange));
      return false;
    }
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < members.size(); ++i) nodes_[static_cast<size_t>(members[i])] = exchange.received()[i];
    met_.insert(group);
    all_met_ = all_met_ || members.size() == nodes_.size();
  }
  *far = far_of(members);
  return true;
}

std::vector<uint8_t> World::far_of(const std::vector<int>& members) {
  const uint64_t here = hash_of_node();
  std::vector<uint8_t> far(members.size());
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < far.size(); ++i) far[i] = nodes_[static_cast<size_t>(members[i])] != here;
  most_on_node_ = std::max(most_on_node_, static_cast<uint64_t>(std::ranges::count(far, 0)));
  return far;
}

// Every process says so: who else would is not known.
void World::give_up(Exchange exchange) {
  const std::lock_guard lock(mutex_);
  if (!unanswered_) {
    log(LogLevel::warning,
        "rank %d: another rank of this job does not answer, as it seems to run without Nearcache: windows are left alone from now on; preload it "
        "in all programs of the job (nearcache run does)", rank_);
  }
  unanswered_ = std::move(exchange);
}

bool World::given_up() {
  const std::lock_guard lock(mutex_);
  if (unanswered_ && unanswered_->complete()) unanswered_.reset();
  return unanswered_.has_value();
}

bool World::is_everybody(MPI_Comm comm) {
  if (!has_model_) return false;
  if (comm == MPI_COMM_WORLD) return true;
  const std::lock_guard lock(mutex_);
  for (const auto& [known, is] : everybodies_) {
    if (known == comm) return is;
  }
  int inter = 0;
  const bool is = next.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter == 0 && members(comm).size() == nodes_.size();
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
      next.Comm_create_from_group(group_, "nearcache", MPI_INFO_NULL, MPI_ERRORS_RETURN, &everybody_) == MPI_SUCCESS)
    return everybody_;
  if (everybody_ != MPI_Comm{}) return everybody_;
#endif
  return MPI_COMM_NULL;
}

}  // namespace nearcache::mpi
