# SPDX-License-Identifier: BSD-3-Clause
"""The papers' claims, one by one, each with the function that derives our answer from the figures'
tables.

Numbers of the papers are those stated in their text; if it states none, the sentence says what is
compared instead.
"""

from driver.report import GOALS

from . import applications_claims as applications
from . import engine_claims as engine
from . import one_sided_claims, upc_claims
from . import remote_data_claims as remote
from .answer import percent
from .claim import Claim

CLAIMS = (
    Claim(
        "2",
        "I",
        "Barnes-Hut on 4 processes with 4,000 bodies reads the same remote data up to 3,500 times",
        engine.most_repeats,
    ),
    Claim(
        "3", "II", "82% of the gets of LCC fit 5 KB; their mean size is about 1 KB", engine.sizes
    ),
    Claim(
        "7",
        "IV.A.1",
        "A hit of 4 KB is up to 9.3 times faster than foMPI's get",
        lambda data: engine.hit(data, 4096, 9.3),
    ),
    Claim(
        "7",
        "IV.A.1",
        "A hit of 16 KB is up to 3.7 times faster than foMPI's get",
        lambda data: engine.hit(data, 16384, 3.7),
    ),
    Claim(
        "7",
        "IV.A.1",
        "What a miss adds: the figure's line is at 25% of foMPI's latency (the text states no points)",
        engine.miss_overhead,
    ),
    Claim(
        "8",
        "IV.A.1",
        "foMPI overlaps up to 85% at 64 KB, which is the upper bound",
        engine.plain_overlap,
    ),
    Claim(
        "8",
        "IV.A.1",
        "Direct and capacity accesses lose overlap by their copy (no number); our goal, failing ones "
        "included: 95% of the plain get's overlap at 64 KiB",
        engine.lost_overlap,
    ),
    Claim(
        "8",
        "IV.A.1",
        "Of large gets, failing accesses overlap more than direct ones",
        engine.failing_overlap,
    ),
    Claim(
        "9",
        "IV.A.2",
        "A fixed index smaller than the 1,000 distinct gets performs poorly",
        engine.fixed_index,
    ),
    Claim(
        "9",
        "IV.A.2",
        "Adaptive avoids that from any starting size (no number; our goal: within 10% of the best fixed one)",
        engine.adaptive_index,
    ),
    Claim(
        "10",
        "IV.A.3",
        "Full and Positional keep around 90% of the storage occupied",
        engine.occupied,
    ),
    Claim(
        "10",
        "IV.A.3",
        "With Temporal, the occupied space shrinks with every get",
        engine.temporal_falls,
    ),
    Claim(
        "11",
        "IV.A.3",
        "Full has the best hit ratio of the three schemes at all index sizes",
        engine.full_is_best,
    ),
    Claim(
        "11",
        "IV.A.3",
        "The paper's best scheme (Full) against our default",
        engine.default_over_full,
    ),
    Claim("11", "IV.A.3", "Temporal leaves the most space free", engine.temporal_free),
    Claim(
        "11",
        "IV.A.3",
        "With M = 16, more than M slots are visited for a victim as the index gets sparse",
        engine.visited,
    ),
    Claim(
        "12",
        "IV.B",
        "native takes about 820 us a body with 1 MB and 400 us with 4 MB, no cache 1,530 us: it is 1.9 and 3.8 times faster",
        applications.native_speedup,
    ),
    Claim("12", "IV.B", "Adaptive is the best in all cases", applications.adaptive_is_best),
    Claim(
        "12",
        "IV.B",
        "Adaptive over plain gets: up to 5 times (section IV.B; the abstract and the summary have 1.8 and 5 exchanged)",
        applications.barnes_hut_speedup,
    ),
    Claim(
        "13",
        "IV.B",
        "Fixed with an index of 1K has many conflicting accesses",
        applications.barnes_hut_conflicts,
    ),
    Claim(
        "14",
        "IV.B",
        "Weak scaling of Barnes-Hut: up to about 5 times faster than foMPI",
        applications.scaling_over_plain,
    ),
    Claim(
        "14",
        "IV.B",
        "Weak scaling of Barnes-Hut: up to about 3 times faster than native",
        applications.scaling_over_native,
    ),
    Claim(
        "14",
        "IV.B",
        "Adaptive adjusts nothing from S_w = 2 MB, I_w = 30K",
        applications.scaling_adjustments,
    ),
    Claim(
        "15",
        "IV.C.1",
        "LCC is 5 times faster than foMPI with 128 MB and 256K entries, fixed",
        applications.lcc_speedup,
    ),
    Claim(
        "15",
        "IV.C.1",
        "Adaptive comes near the best fixed configuration from any start (no number; our goal: within 10%)",
        applications.lcc_adaptive,
    ),
    Claim(
        "16",
        "IV.C.1",
        "With 64 MB fixed, about 60% of the gets are capacity or failing accesses",
        applications.lcc_turned_away,
    ),
    Claim(
        "16",
        "IV.C.1",
        "Starting with 64 MB, adaptive keeps the hits above 60% of the gets",
        applications.lcc_hits,
    ),
    Claim(
        "17",
        "IV.C.2",
        "Both strategies come nearer to foMPI as processes are added (no number; our goal: never slower up to 128)",
        applications.lcc_scaling,
    ),
    Claim("17", "IV.C.2", "Above 32 processes, fixed falls behind adaptive", applications.lcc_gap),
    Claim(
        "18",
        "IV.C.2",
        "With adaptive, all misses but direct ones stay below 8% of the gets",
        applications.lcc_other_misses,
    ),
    Claim(
        "peers",
        "-",
        f"No claim of the paper; our goal: cost saved at least {percent(GOALS['share_of_reference_min'][1])} of what is possible "
        f"on every trace, {percent(GOALS['share_of_reference_mean'][1])} in the mean (here of programs; a pattern and short traces "
        "miss the first: performance.md)",
        engine.peers_share,
    ),
    Claim(
        "peers",
        "-",
        f"No claim of the paper; our goal: never more than {GOALS['worst_behind_peers_points'][1]} points below the best of LRU, SIEVE, W-TinyLFU",
        engine.peers_behind,
    ),
    # Claims about the cache for remote data; sections are those of its paper.
    Claim(
        "synthetics",
        "V.A",
        "copy is 98 times faster over InfiniBand, 26 with uGNI, 480 over 10 Gb Ethernet (beside it: tcp)",
        remote.copy,
    ),
    Claim(
        "synthetics",
        "V.A",
        "rand-gets, where nothing can be gained, takes up to 10% longer",
        remote.rand_gets,
    ),
    Claim(
        "synthetics",
        "V.A",
        "rand-puts is 3 times faster over InfiniBand, 2.0 over 10 Gb Ethernet",
        remote.rand_puts,
    ),
    Claim(
        "synthetics",
        "-",
        "No claim of the paper; our goal: puts are never slower than plain ones with one quiet at the end",
        remote.rand_puts_one_quiet,
    ),
    Claim(
        "prefetch",
        "V.A",
        "The cache without hints gains 2 to 3 times, as array headers are cached",
        remote.no_hints,
    ),
    Claim(
        "prefetch",
        "V.A",
        "Hints at the best distance gain another 4 times over InfiniBand (distance 14), 1.3 with GASNet on Aries (12)",
        remote.best_over_none,
    ),
    Claim(
        "prefetch",
        "V.A",
        "Both together: 10 times over InfiniBand and Ethernet, 4 over Aries",
        remote.best,
    ),
    Claim(
        "prefetch",
        "VII",
        "An adaptive distance is future work; our goal: within 10% of the best fixed one",
        remote.adaptive,
    ),
    Claim(
        "programs",
        "V.B",
        "LULESH is 4.9 (uGNI), 3.5 (GASNet on Aries), 1.3 (InfiniBand) times faster; ours: hydro",
        remote.hydro,
    ),
    Claim("programs", "V.B", "miniMD is about 3 times faster", remote.minimd),
    Claim("programs", "V.B", "PTRANS is about 2 times faster", remote.ptrans),
    Claim(
        "programs",
        "V.B",
        "SSCA2 is slower over InfiniBand and uGNI, as each atomic operation flushes; our goal: never slower",
        remote.ssca2,
    ),
    Claim(
        "programs",
        "-",
        "No claim of the paper; our goal: random updates are never slower",
        remote.gups,
    ),
    *one_sided_claims.CLAIMS,
    *upc_claims.CLAIMS,
)
