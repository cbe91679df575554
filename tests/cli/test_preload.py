"""Which object is chosen, and how it is put into the command line."""

import os
import pwd

import pytest
from nearcache import build, command, home, preload
from nearcache.errors import NearcacheError, Refused
from nearcache.home import Home
from nearcache.mpi import Mpi


def words(line, variables=None, environment=None):
    parsed = command.parse(line.split())
    return " ".join(preload.insert(parsed, ["/n.so"], variables or {}, environment or {}))


def test_ranks_are_preloaded_and_the_launcher_is_not():
    assert words("mpiexec -n 2 ls x") == "mpiexec -n 2 env LD_PRELOAD=/n.so ls x"


def test_variables_go_with_the_preload():
    assert words("ls", {"NEARCACHE_MODE": "user"}) == "env LD_PRELOAD=/n.so NEARCACHE_MODE=user ls"


def test_every_program_of_a_command_gets_the_preload():
    assert (
        words("mpiexec -n 1 ls : -n 1 cat")
        == "mpiexec -n 1 env LD_PRELOAD=/n.so ls : -n 1 env LD_PRELOAD=/n.so cat"
    )


@pytest.mark.parametrize(
    "existing", ["/a.so:/b.so", "/a.so /b.so", "/a.so:/n.so:/b.so", ":/a.so::/b.so:"]
)
def test_objects_that_are_preloaded_already_stay_after_ours(existing):
    assert (
        words("ls", environment={"LD_PRELOAD": existing}) == "env LD_PRELOAD=/n.so:/a.so:/b.so ls"
    )


def test_preload_of_an_env_before_the_program_stays_too():
    assert (
        words("mpiexec env LD_PRELOAD=/a.so ls")
        == "mpiexec env LD_PRELOAD=/a.so env LD_PRELOAD=/n.so:/a.so ls"
    )


def test_option_of_an_env_before_the_program_wins():
    assert (
        words("mpiexec env NEARCACHE_MODE=off ls", {"NEARCACHE_MODE": "user"})
        == "mpiexec env NEARCACHE_MODE=off env LD_PRELOAD=/n.so ls"
    )


@pytest.mark.parametrize("path", ["/with blank/n.so", "/with:colon/n.so"])
def test_path_that_the_loader_would_split_is_refused(path):
    with pytest.raises(Refused, match="cannot be preloaded"):
        preload.preload_value([path], "")


@pytest.mark.parametrize(
    "found, tag",
    [
        (("mpich", "4.0.2"), "mpich-4.0.2"),
        (("mpich", "4.3.0"), "mpich-4.0.2"),
        (("mpich", "3.4"), "mpich-4.0.2"),
        (("mpich", "5.1.0"), "mpich-5.0.2"),
        (("openmpi", "4.1.6"), "openmpi-4.1.4"),
        (("openmpi", "5.0.3"), "openmpi-5.0.11"),
        (("abi", "1.1"), "abi-1.0"),
    ],
)
def test_nearest_version_of_the_family_is_chosen_and_said(fake_home, found, tag):
    choice = preload.choose(Mpi(*found, "here"), Home(fake_home).objects())
    assert choice.object.tag == tag
    assert bool(choice.note) == (f"{found[0]}-{found[1]}" != tag)


def test_family_without_an_object_is_refused_with_what_there_is(fake_home):
    with pytest.raises(Refused) as error:
        preload.choose(
            Mpi("abi", "1.0", "libmpi_abi.so"),
            [item for item in Home(fake_home).objects() if item.family != "abi"],
        )
    assert "abi-1.0 (libmpi_abi.so)" in error.value.message
    assert "mpich-4.0.2, mpich-5.0.2, openmpi-4.1.4" in error.value.message


def test_a_folder_and_a_link_to_it_hold_the_same_object(tmp_path):
    (tmp_path / "lib/nearcache/mpich-4.0.2").mkdir(parents=True)
    (tmp_path / "lib/nearcache/mpich-4.0.2/libnearcache_mpi.so").write_text("")
    (tmp_path / "lib64").symlink_to("lib")
    assert [item.tag for item in Home(tmp_path).objects()] == ["mpich-4.0.2"]


def test_a_user_without_a_home_has_no_objects_of_their_own(tmp_path, monkeypatch):
    def nobody(_number):
        raise KeyError

    monkeypatch.setenv("XDG_DATA_HOME", "data")  # relative: to be ignored
    monkeypatch.setenv("HOME", "/home/me")
    assert str(home.built()).startswith("/home/me/.local/share/nearcache/")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.delenv("NEARCACHE_HOME", raising=False)
    monkeypatch.setattr(home, "WHEEL", tmp_path)
    assert home.candidates()[-1] == tmp_path and home.built() is None
    with pytest.raises(NearcacheError, match="--prefix"):
        build.place_for(None)


def test_a_prefix_that_cannot_be_written_is_refused_before_anything_is_compiled(
    tmp_path, monkeypatch
):
    """Root may write everywhere, so the answer is the test's."""
    (tmp_path / "prefix" / "share").mkdir(parents=True)
    locked = str(tmp_path / "prefix" / "share")
    monkeypatch.setattr(os, "access", lambda path, _mode: str(path) != locked)
    with pytest.raises(NearcacheError, match=f"{locked}: it cannot be written.*--prefix"):
        build.place_for(tmp_path / "prefix")
    assert build.place_for(tmp_path / "prefix" / "new") == tmp_path / "prefix" / "new"


def test_installation_prefix_is_a_home_too(tmp_path):
    (tmp_path / "lib/nearcache/mpich-4.0.2").mkdir(parents=True)
    (tmp_path / "lib/nearcache/mpich-4.0.2/libnearcache_mpi.so").write_text("")
    assert [item.tag for item in Home(tmp_path).objects()] == ["mpich-4.0.2"]


def object_of(folder, tag="mpich-4.0.2"):
    """An empty preload object."""
    (folder / tag).mkdir(parents=True)
    (folder / tag / "libnearcache_mpi.so").write_text("")


def test_a_checkout_below_the_source_folder_of_a_prefix_uses_its_own_build(tmp_path, monkeypatch):
    checkout = tmp_path / "src" / "nearcache"
    object_of(tmp_path / "lib" / "nearcache", "mpich-3.4")
    object_of(checkout / "build" / "lib")
    (checkout / "CMakeLists.txt").write_text("")
    monkeypatch.delenv("NEARCACHE_HOME", raising=False)
    monkeypatch.setattr(home, "PACKAGE", checkout / "python" / "nearcache")
    assert home.find().path == checkout / "build"
    (checkout / "CMakeLists.txt").unlink()
    assert tmp_path not in home.candidates()


def test_the_commands_of_an_installation_use_its_objects(tmp_path, monkeypatch):
    object_of(tmp_path / "lib" / "nearcache")
    monkeypatch.delenv("NEARCACHE_HOME", raising=False)
    package = tmp_path / "share" / "nearcache" / "python" / "nearcache"
    monkeypatch.setattr(home, "PACKAGE", package)
    assert home.find().path == tmp_path


def test_a_home_named_from_here_is_found_by_ranks_in_another_folder(tmp_path, monkeypatch):
    object_of(tmp_path / "build" / "lib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("build", "./build/../build", "~/build"):
        monkeypatch.setenv("NEARCACHE_HOME", name)
        (item,) = home.find().objects()
        assert str(item.path).startswith(f"{tmp_path}/build/lib/"), name


def test_objects_of_named_wrappers_are_built_without_simgrid(tmp_path):
    assert "-DNEARCACHE_SMPICC=OFF" in build.settings(["sh"], [], tmp_path)
    assert not [word for word in build.settings([], [], tmp_path) if "SMPICC" in word]
