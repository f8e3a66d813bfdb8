# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium, without a network, and prints what scripts and clicks find there.

usage: browse.py PAGE STEP...   where a STEP is one of
    js:EXPRESSION      evaluates it and prints its value as JSON on a line
    click:EXPRESSION   clicks at the place [x, y] of the window that it gives, in CSS pixels
    drag:X,Y,DX,DY     drags from there by so much
    reload:FRAGMENT    opens the page anew with this fragment of its address
    size:W,H           sets the size of the window
    png:FILE           writes a screenshot
Then one line with a JSON list: messages that the console showed as errors or warnings, and uncaught exceptions.
Chromium is driven by the DevTools protocol over a pair of pipes.
"""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


class Browser:
    def __init__(self, folder):
        to_child, ours_out = os.pipe()
        ours_in, from_child = os.pipe()

        def connect():  # Chromium reads from descriptor 3 and writes to 4
            low, high = os.dup(to_child), os.dup(from_child)
            os.dup2(low, 3)
            os.dup2(high, 4)

        command = ["chromium", "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--use-angle=swiftshader",
                   "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--user-data-dir=" + folder, "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.out, self.input, self.rest = ours_out, ours_in, b""
        self.number, self.session, self.errors, self.events = 0, None, [], set()
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.input, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        method, values = message.get("method"), message.get("params", {})
        if method:
            self.events.add(method)
        if method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.errors.append(values["entry"]["text"])
        return message

    def call(self, method, **values):
        self.number += 1
        message = {"id": self.number, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, address):
        self.call("Page.navigate", url="about:blank")
        self.events.discard("Page.loadEventFired")
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.receive()
        self.settle()

    def settle(self):
        """Waits until two frames have been drawn and what waits for the end of a movement has run."""
        self.evaluate("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 700))")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def mouse(self, kind, x, y, **values):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **values)

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=30)


def take(browser, address, step):
    kind, _, text = step.partition(":")
    if kind == "js":
        print(json.dumps(browser.evaluate(text)), flush=True)
    elif kind in ("click", "drag"):
        x, y, *by = browser.evaluate(text) if kind == "click" else (float(number) for number in text.split(","))
        browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        if by:
            browser.mouse("mouseMoved", x + by[0], y + by[1], button="left", buttons=1)
            x, y = x + by[0], y + by[1]
        browser.mouse("mouseReleased", x, y, button="left", clickCount=1)
        browser.settle()
    elif kind == "reload":
        browser.open(address + "#" + text)
    elif kind == "size":
        width, height = (int(number) for number in text.split(","))
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        browser.settle()
    elif kind == "png":
        pathlib.Path(text).write_bytes(base64.b64decode(browser.call("Page.captureScreenshot")["data"]))
    else:
        sys.exit(f"browse.py: no such step: '{step}'")


def main():
    address = pathlib.Path(sys.argv[1]).resolve().as_uri()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            browser.call("Network.enable")
            browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
            browser.open(address)
            for step in sys.argv[2:]:
                take(browser, address, step)
            time.sleep(0.1)
            browser.evaluate("0")  # receives what is still on its way
            print(json.dumps(browser.errors), flush=True)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
