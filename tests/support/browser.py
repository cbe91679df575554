"""A headless Chromium, driven over the DevTools protocol through a pair of pipes (--remote-debugging-pipe): no port, no library."""

import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60  # seconds until a browser that does not answer counts as hung


def starts(program):
    """Ubuntu's package has a script that ends with an error where there are no snaps, as in containers."""
    try:
        return not subprocess.run(
            [program, "--version"], capture_output=True, timeout=60
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False


def find():
    """The browser's program, or None."""
    return next((path for path in map(shutil.which, NAMES) if path and starts(path)), None)


class Browser:
    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(
            prefix="nearcache-browser-", ignore_cleanup_errors=True
        )
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes 4.
        words = [
            program,
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={self.profile.name}",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "about:blank",
        ]
        if os.geteuid() == 0:
            words.insert(1, "--no-sandbox")  # Chromium's sandbox refuses root
        self.log = tempfile.TemporaryFile("w+")
        # A session of its own: the browser's helpers end with it.
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&"$0" 4>&' + str(from_browser), str(to_browser), *words],
            pass_fds=(to_browser, from_browser),
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.numbers, self.buffer, self.events = itertools.count(1), b"", []

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.log.close()
        self.profile.cleanup()

    def _said(self):
        self.log.seek(0)
        return self.log.read()[-2000:]

    def _message(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, until - time.monotonic()))
            more = os.read(self.answers, 1 << 16) if ready else b""
            if not more:
                raise RuntimeError(
                    f"the browser {'ended' if ready else 'does not answer'}: {self._said()}"
                )
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        """The result of a command; events that come before it are kept."""
        number = next(self.numbers)
        command = {
            "id": number,
            "method": method,
            "params": params,
            **({"sessionId": session} if session else {}),
        }
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            message = self._message(until)
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    def wait_for(self, session, method):
        until, seen = time.monotonic() + PATIENCE, 0
        while True:
            while seen < len(self.events):
                if (
                    self.events[seen].get("method") == method
                    and self.events[seen].get("sessionId") == session
                ):
                    return
                seen += 1
            self.events.append(self._message(until))

    def open(self, url, width=1280, scheme="light", script=True, media=""):
        """A page in a tab of its own, loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(
            self,
            target,
            self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"],
        )
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        page.call(
            "Emulation.setEmulatedMedia",
            media=media,
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        if not script:
            page.call("Emulation.setScriptExecutionDisabled", value=True)
        page.call("Page.navigate", url=url)
        self.wait_for(page.session, "Page.loadEventFired")
        return page


class Page:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def evaluate(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def events(self, method):
        return [
            event["params"]
            for event in self.browser.events
            if event.get("sessionId") == self.session and event.get("method") == method
        ]

    def complaints(self):
        """What the browser's console shows: messages, uncaught exceptions, errors of loading."""
        return (
            self.events("Runtime.consoleAPICalled")
            + self.events("Runtime.exceptionThrown")
            + [event["entry"] for event in self.events("Log.entryAdded")]
        )

    def requests(self):
        return [event["request"]["url"] for event in self.events("Network.requestWillBeSent")]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
