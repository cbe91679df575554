"""Commands that are ended by a signal end what they have started."""

import os
import signal
import subprocess

import pytest
from nearcache import build, ended
from nearcache.doctor import selftest


@pytest.mark.parametrize(
    "command, number",
    [
        (lambda words, log: ended.run_to_its_end(words), signal.SIGTERM),
        (lambda words, log: build.step(words, log), signal.SIGTERM),
        (lambda words, log: selftest.run(words, 60), signal.SIGKILL),
    ],
    ids=["advise", "build", "doctor"],
)
def test_a_signal_that_comes_while_the_program_is_being_started_ends_it_too(
    monkeypatch, tmp_path, command, number
):
    started = []

    class Popen(subprocess.Popen):
        def __init__(self, *words, **how):
            super().__init__(*words, **how)
            started.append(self)
            os.kill(os.getpid(), signal.SIGTERM)

    def end(number, _frame):
        raise ended.Ended(number)

    monkeypatch.setattr(ended.subprocess, "Popen", Popen)
    before = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(ended.Ended):
            command(["sleep", "60"], tmp_path / "log")
        if number == signal.SIGKILL:
            started[0].wait(10)  # nobody else does
        assert started[0].poll() == -number
    finally:
        signal.signal(signal.SIGTERM, before)
        started[0].kill()
