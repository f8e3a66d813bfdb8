# SPDX-License-Identifier: Apache-2.0
"""Opens a page in headless Chromium or Firefox and prints what scripts and clicks find there.

usage: browse.py [--firefox] PAGE STEP...   where a STEP is one of
    js:EXPRESSION      evaluates it and prints its value as JSON on a line
    click:EXPRESSION   clicks at the place [x, y] of the window that it gives, in CSS pixels
    drag:X,Y,DX,DY     drags from there by so much (Chromium)
    reload:FRAGMENT    opens the page anew with this fragment of its address
    size:W,H           sets the size of the window
    png:FILE           writes a screenshot
Then one line with a JSON list: messages that the console showed as errors or warnings, and uncaught exceptions.
Chromium has no network and is driven by the DevTools protocol over a pair of pipes. Firefox needs a display for WebGL
(Xvfb will do), is driven by its Marionette protocol, and its console is not read.
"""
import base64
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time


def end(process):
    """Waits for a browser that was told to end, and ends one that does not."""
    try:
        process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
        self.number, self.session, self.errors = 0, None, []
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
        for url in ("about:blank", address):
            error = self.call("Page.navigate", url=url).get("errorText")
            if error:
                raise RuntimeError(f"{url}: {error}")
            while not self.shows(url):
                time.sleep(0.01)
        self.settle()

    def shows(self, address):
        """Whether the page is there; it writes the fragment of its address itself."""
        try:
            return (self.evaluate("document.readyState === 'complete' && location.href.split('#')[0]")
                    == address.split("#")[0])
        except RuntimeError:  # the page before it is on its way out
            return False

    def settle(self):
        """Waits until no movement goes on, no frame is asked for any more, and two more have been drawn.

        In a report, the page that does so is in a frame, if one is shown."""
        self.evaluate("""new Promise(done => {
            const frame = then => requestAnimationFrame(then), inner = document.querySelector('iframe');
            const busy = () => inner ? Boolean(inner.srcdoc) && (inner.hasAttribute('aria-busy') ||
                inner.contentWindow.eval('Boolean(moving || asked || hovering)')) : moving || asked || hovering;
            const look = () => busy() ? frame(look) : frame(() => frame(done));
            look();
        })""")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def mouse(self, kind, x, y, **values):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **values)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self):
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        end(self.process)


class Firefox:
    """The same for Firefox, as far as the steps need it."""
    errors = ()  # uncaught exceptions end the page's script, and what follows fails

    def __init__(self, folder):
        prefs = {"marionette.port": 0, "webgl.force-enabled": True, "browser.shell.checkDefaultBrowser": False,
                 "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False}
        text = "".join(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in prefs.items())
        pathlib.Path(folder, "user.js").write_text(text)
        self.process = subprocess.Popen(["firefox-esr", "--headless", "--no-remote", "--marionette", "--profile", folder],
                                        env={**os.environ, "HOME": folder}, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = pathlib.Path(folder, "MarionetteActivePort")
        while not (port.exists() and port.read_text().strip()):
            if self.process.poll() is not None:
                raise RuntimeError("Firefox has ended")
            time.sleep(0.1)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())))
        self.rest, self.number = b"", 0
        self.receive()  # the greeting
        self.call("WebDriver:NewSession", capabilities={})
        self.call("WebDriver:SetTimeouts", script=120000, pageLoad=120000)

    def receive(self):
        while True:
            length, colon, text = self.rest.partition(b":")
            if colon and len(text) >= int(length):
                self.rest = text[int(length):]
                return json.loads(text[:int(length)])
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise RuntimeError("Firefox has ended")
            self.rest += piece

    def call(self, method, **values):
        self.number += 1
        text = json.dumps([0, self.number, method, values]).encode()
        self.socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self.receive()
        if error:
            raise RuntimeError(f"{method}: {error['message']}")
        return result

    def open(self, address):
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url=address)
        self.settle()

    settle = Browser.settle

    # Scripts of the page see its constants; those of Marionette do not.
    def evaluate(self, expression):
        script = """const [expression, done] = arguments, page = window.wrappedJSObject || window;
            Promise.resolve().then(() => page.eval(expression)).then(value => done({ value: JSON.stringify(value) ?? "null" }),
              error => done({ error: String(error) }));"""
        result = self.call("WebDriver:ExecuteAsyncScript", script=script, args=[expression], sandbox=None)["value"]
        if "error" in result:
            raise RuntimeError(result["error"])
        return json.loads(result["value"])

    def click(self, x, y):
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                   "actions": [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0},
                               {"type": "pointerUp", "button": 0}]}
        self.call("WebDriver:PerformActions", actions=[pointer])

    def size(self, width, height):
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def picture(self):
        return base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)["value"])

    def close(self):
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
        except (RuntimeError, OSError):
            pass
        end(self.process)


def take(browser, address, step):
    kind, _, text = step.partition(":")
    if kind == "js":
        print(json.dumps(browser.evaluate(text)), flush=True)
    elif kind == "click":
        browser.click(*browser.evaluate(text))
        browser.settle()
    elif kind == "drag":
        x, y, across, down = (float(number) for number in text.split(","))
        browser.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        browser.mouse("mouseMoved", x + across, y + down, button="left", buttons=1)
        browser.mouse("mouseReleased", x + across, y + down, button="left", clickCount=1)
        browser.settle()
    elif kind == "reload":
        browser.open(address + "#" + text)
    elif kind == "size":
        browser.size(*(int(number) for number in text.split(",")))
        browser.settle()
    elif kind == "png":
        pathlib.Path(text).write_bytes(browser.picture())
    else:
        sys.exit(f"browse.py: no such step: '{step}'")


def main():
    firefox = sys.argv[1] == "--firefox"
    words = sys.argv[2 if firefox else 1:]
    address = pathlib.Path(words[0]).resolve().as_uri()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Firefox(folder) if firefox else Browser(folder)
        try:
            if not firefox:
                browser.call("Network.enable")
                browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0,
                             uploadThroughput=0)
            browser.open(address)
            for step in words[1:]:
                take(browser, address, step)
            time.sleep(0.1)
            browser.evaluate("0")  # receives what is still on its way
            print(json.dumps(browser.errors), flush=True)
        finally:
            browser.close()


if __name__ == "__main__":
    main()
