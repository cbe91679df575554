# Spack package of Nearcache. From a checkout:
#   spack repo add packaging/spack
#   spack dev-build nearcache@main ^mpich
# A release's package (scripts/release.py) has its version instead, with the archive's checksum:
#   spack repo add FOLDER/spack
#   spack install nearcache ^mpich
from pathlib import Path

from spack.package import *


class Nearcache(CMakePackage):
    """A cache for one-sided communication: serves unmodified MPI-3 RMA and OpenSHMEM programs from local memory."""

    license("BSD-3-Clause")

    git = Path(__file__).resolve().parents[4].as_uri()  # the checkout
    version("main", branch="main")

    variant(
        "shmem",
        default=False,
        description="Build for the OpenSHMEM of Open MPI, which must have been built with it",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("cli11@2:", type="build")
    depends_on("fmt@8:")
    depends_on("mpi@3:")
    depends_on("openmpi", when="+shmem")
    depends_on("python@3.9:", type=("build", "run"))
    # The build needs them for man pages, and for `nearcache doctor` of its test.
    depends_on("py-click@8:", type=("build", "run"))
    depends_on("py-rich@12:", type=("build", "run"))
    depends_on("py-pyelftools@0.27:", type=("build", "run"))
    depends_on("py-jinja2@3:", type="run")
    # For upcc, which needs an OpenSHMEM.
    depends_on("python@3.11:", type=("build", "run"), when="+shmem")
    depends_on("py-pycparser@3.12:3", type="run", when="+shmem")

    generator("ninja")

    def cmake_args(self):
        oshcc = (
            join_path(self.spec["openmpi"].prefix.bin, "oshcc")
            if self.spec.satisfies("+shmem")
            else "none"
        )
        return [
            self.define("NEARCACHE_OSHCC", oshcc),
            self.define("NEARCACHE_MPICC", self.spec["mpi"].mpicc),
            self.define("NEARCACHE_SMPICC", False),  # SimGrid of the machine
            self.define("NEARCACHE_BUILD_TESTS", False),
            self.define("NEARCACHE_BUILD_BENCH", False),
            self.define("NEARCACHE_BUILD_APPS", False),
        ]

    def setup_run_environment(self, env):
        env.set("NEARCACHE_HOME", self.prefix)
        env.set(
            "NEARCACHE_PYTHON", self.spec["python"].command.path
        )  # which sees the packages above

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_doctor(self):
        Executable(self.prefix.bin.nearcache)("doctor")
