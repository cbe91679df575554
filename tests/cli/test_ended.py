# SPDX-License-Identifier: BSD-3-Clause
"""Commands that are ended by a signal end what they have started."""

import os
import signal
import subprocess

import pytest
from nearcache import build, doctor, ended


@pytest.mark.parametrize(
    "command",
    [
        lambda words, log: ended.run_to_its_end(words),
        lambda words, log: build.step(words, log),
        lambda words, log: doctor.run(words, 60),
    ],
    ids=["advise", "build", "doctor"],
)
def test_a_signal_that_comes_while_the_program_is_being_started_ends_it_too(
    monkeypatch, tmp_path, command
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
        assert started[0].wait(10) in (-signal.SIGTERM, -signal.SIGKILL)
    finally:
        signal.signal(signal.SIGTERM, before)
        started[0].kill()
