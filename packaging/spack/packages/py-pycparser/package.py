# upcc extends the parser of pycparser 3.12; Spack's own package ends at 3.0.
from spack.package import *


class PyPycparser(PythonPackage):
    """A parser of C, written in Python."""

    homepage = "https://github.com/eliben/pycparser"
    pypi = "pycparser/pycparser-3.12.tar.gz"
    license("BSD-3-Clause")

    version("3.12", sha256="f03387877eab82ce01bbdfd0ba7252ee55a90b1c708d5129e2ce915475cf1db6")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-setuptools@77:", type="build")
