"""libflyloom: notified access for programs in C, alone or beside an MPI."""

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class FlyloomRuntime(CMakePackage):
    """Notified access and one-sided synchronisation: data and its notification in one call, over
    shared memory, libfabric or the messages of an MPI; with collective operations."""

    pypi = "flyloom/flyloom-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0")

    variant("ofi", default=True, description="Between nodes without an MPI, over libfabric")
    variant("ud", default=False, description="Broadcasts by InfiniBand's unreliable datagrams")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("libfabric", when="+ofi")
    depends_on("rdma-core", when="+ud")

    root_cmakelists_dir = "runtime/rt"

    def cmake_args(self):
        """The options of runtime/rt/CMakeLists.txt."""
        return [
            self.define("FLY_TESTS", self.run_tests),
            self.define_from_variant("FLY_OFI", "ofi"),
            self.define_from_variant("FLY_UD", "ud"),
        ]
