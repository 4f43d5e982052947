"""flyloom: the Python package with its compiled core."""

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyFlyloom(PythonPackage):
    """A workbench for interconnection networks: design, price, lay out, route, prove free of
    deadlock, deploy, verify and simulate the networks of supercomputers and AI clusters."""

    pypi = "flyloom/flyloom-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0")

    variant("sci", default=False, description="Networks to and from networkx and scipy")
    variant("pandas", default=False, description="Results as data frames of pandas")
    variant("dask", default=False, description="Experiments on the workers of a Dask cluster")

    depends_on("c", type="build")
    depends_on("rust@1.88:", type="build")
    depends_on("py-maturin@1.9:1", type="build")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-pyarrow@14:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-typer@0.12:0.28", type=("build", "run"))

    depends_on("py-networkx@3.4:", when="+sci", type=("build", "run"))
    depends_on("py-scipy@1.14:", when="+sci", type=("build", "run"))
    depends_on("py-pandas@2.2:", when="+pandas", type=("build", "run"))
    depends_on("py-distributed@2026.8:", when="+dask", type=("build", "run"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """Designs and routes a network with what was installed."""
        flyloom = Executable(join_path(self.prefix.bin, "flyloom"))
        flyloom("verify", "slim_fly:q=5,p=4", "-e", "dfsssp")
