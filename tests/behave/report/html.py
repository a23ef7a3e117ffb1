#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML page in headless Chromium: what it shows, filters, keyboard, hostile text, light and dark,
ten thousand findings; screenshots go to build/screenshots/. Skipped where Chromium is missing.

usage: tests/behave/report/html.py build/trapline"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from sample import ROOT, TRAPLINE, finding, report, write

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SHOTS = os.path.join(os.path.dirname(TRAPLINE), "screenshots")

# Runs in the page after its own script; what `steps` returns comes back as JSON.
HARNESS = """
<script>
(async () => {
  const $ = (id) => document.getElementById(id);
  const wait = (time) => new Promise((done) => setTimeout(done, time));
  const press = (key) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const type = async (text) => {
    $("search").value = text;
    $("search").dispatchEvent(new Event("input"));
    await wait(150);
  };
  const heading = () => document.querySelector("#detail h2")?.textContent;
  const status = () => $("status").textContent;
  const rows = () => [...document.querySelectorAll(".row")];
  let result;
  try { result = await (async () => { STEPS })(); } catch (error) { result = { error: String(error) }; }
  const out = document.createElement("pre");
  out.id = "result";
  out.textContent = JSON.stringify(result);
  document.body.append(out);
})();
</script>
"""


@unittest.skipUnless(CHROMIUM, "Chromium is not installed")
class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(self.folder.cleanup)
        self.path = lambda name: os.path.join(self.folder.name, name)

    def page(self, findings, *arguments):
        source = write(self.path("in.jsonl"), findings)
        result = report(source, "-o", self.path("page.html"), *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.path("page.html")

    def browse(self, page, *flags, fragment=""):
        return subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--disable-dev-shm-usage", f"--user-data-dir={self.path('profile')}",
             "--window-size=1300,900", *flags, f"file://{page}{fragment}"],
            capture_output=True, text=True, timeout=120, check=True).stdout

    def run_steps(self, page, steps, fragment="", shot=None):
        with open(page, encoding="utf-8") as file:
            content = file.read()
        tried = self.path("tried.html")
        with open(tried, "w", encoding="utf-8") as file:
            file.write(content.replace("</body>", HARNESS.replace("STEPS", steps) + "</body>"))
        if shot:
            os.makedirs(SHOTS, exist_ok=True)
            with open(tried, "a", encoding="utf-8") as file:
                file.write("<style>#result { display: none }</style>")
            self.browse(tried, f"--screenshot={os.path.join(SHOTS, shot)}",
                        "--virtual-time-budget=5000", fragment=fragment)
        dom = self.browse(tried, "--dump-dom", "--virtual-time-budget=10000", fragment=fragment)
        found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.S)
        self.assertTrue(found, dom[-2000:])
        text = found.group(1)
        for mark, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
            text = text.replace(mark, character)
        return json.loads(text)

    def test_one_finding(self):
        seen = [{"time": f"2026-11-02T03:00:{second:02d}.25Z", "tid": 101 + second % 3}
                for second in range(20)]
        page = self.page([finding(1, occurrences=seen, count=21), finding(2)])
        shown = self.run_steps(page, """
          return { heading: heading(), badge: document.querySelector(".badge").textContent,
            sides: [...document.querySelectorAll(".sides > .card h3")].map((node) => node.textContent),
            tops: [...document.querySelectorAll(".sides > .card")].map((node) => node.getBoundingClientRect().top),
            marked: [...document.querySelectorAll("pre.source .at")].map((node) => node.textContent),
            frames: document.querySelectorAll(".sides .stack > li").length,
            dots: document.querySelectorAll("svg.timeline circle").length,
            why: document.querySelector("ul li").textContent, status: status() };""",
                                shot="finding-light.png")
        self.assertEqual(shown["heading"], "Data race: write_1 / read_1likely")
        self.assertEqual(shown["badge"], "likely")
        self.assertEqual(shown["sides"], ["write of 8 bytes by thread worker-1 (101)",
                                          "read of 8 bytes by thread worker-1 (102)"])
        self.assertEqual(shown["tops"][0], shown["tops"][1], "the stacks stand side by side")
        self.assertEqual(len(shown["marked"]), 2)
        with open(os.path.join(ROOT, "src/store/set.c"), encoding="utf-8") as source:
            self.assertIn(source.read().split("\n")[20], shown["marked"][0])
        self.assertEqual((shown["frames"], shown["dots"]), (10, 22))
        self.assertEqual(shown["why"], "one access is a memcpy")
        self.assertEqual(shown["status"], "2 findings of 2, seen 22 times")

    def test_mistakes_come_before_answers(self):
        """What `trapline flow` tells of a program is no mistake of it, however sure and often."""
        answer = finding(1, kind="flow-step", count=1000, object={"kind": "heap"})
        answer["class"] = "definite"
        page = self.page([answer, finding(2)])
        shown = self.run_steps(page, """
          const first = heading();
          press("j");
          return { first, then: heading(), cards: [...document.querySelectorAll("#detail > .card h3")].map((node) => node.textContent),
            facts: document.querySelector("#detail .facts").textContent };""")
        self.assertEqual(shown["first"], "Data race: write_2 / read_2possible")
        self.assertTrue(shown["then"].startswith("flow-step: "), shown)
        self.assertFalse([title for title in shown["cards"] if "memory" in title.lower()], "an empty card")
        self.assertIn(" · Heap memory · ", shown["facts"])

    def test_dark(self):
        page = self.page([finding(number) for number in range(30)])
        shown = self.run_steps(page, """
          const light = getComputedStyle(document.body).backgroundColor;
          $("theme").click();
          return { light, dark: getComputedStyle(document.body).backgroundColor };""",
                               shot="list-dark.png")
        self.assertEqual(shown, {"light": "rgb(246, 247, 249)", "dark": "rgb(18, 22, 27)"})

    def test_filters(self):
        page = self.page([*(finding(number) for number in range(30)), finding(40, kind="hit")])
        shown = self.run_steps(page, """
          const seen = [status()];
          await type("write_12"); seen.push(status(), heading());
          await type("worker-3 VARIABLE_3"); seen.push(status());
          await type("nothing-like-it"); seen.push(status(), !$("empty").hidden, heading() === undefined);
          await type("");
          document.querySelector("button.definite").click(); seen.push(status());
          document.querySelector("button.definite").click();
          $("kind").value = "hit"; $("kind").dispatchEvent(new Event("change")); seen.push(status());
          return seen;""")
        self.assertEqual(shown, [
            "31 findings of 31, seen 31 times", "1 finding of 31, seen 1 time",
            "Data race: write_12 / read_12definite", "1 finding of 31, seen 1 time",
            "0 findings of 31, seen 0 times", True, True, "21 findings of 31, seen 21 times",
            "1 finding of 31, seen 1 time"])

    def test_keyboard(self):
        page = self.page([finding(number, count=100 - number) for number in range(0, 90, 3)])
        shown = self.run_steps(page, """
          const seen = [document.activeElement.id, heading()];
          press("j"); press("ArrowDown"); seen.push(heading());
          press("k"); seen.push(heading());
          press("End"); seen.push(heading(), document.querySelector('.row[aria-selected="true"]') !== null);
          seen.push($("list").getAttribute("aria-activedescendant"));
          press("Home"); press("Enter"); seen.push(document.activeElement.id);
          press("Escape"); seen.push(document.activeElement.id);
          press("/"); seen.push(document.activeElement.id); press("j"); seen.push(heading());
          press("Escape"); press("t"); seen.push(document.documentElement.dataset.theme);
          return seen;""")
        title = "Data race: write_{0} / read_{0}definite".format
        self.assertEqual(shown, ["list", title(0), title(6), title(3), title(87), True, "row-29",
                                 "detail", "list", "search", title(0), "dark"])

    def test_link_to_a_finding(self):
        page = self.page([finding(number) for number in range(200)])
        wanted = json.loads(report(self.path("in.jsonl"), "--format", "jsonl", "--query",
                                   "function=write_150").stdout)["id"]
        shown = self.run_steps(page, 'return [heading(), document.querySelector(\'.row[aria-selected="true"]\') !== null];',
                               fragment="#" + wanted)
        self.assertEqual(shown, ["Data race: write_150 / read_150definite", True])

    def test_hostile_text(self):
        evil = "</script><script>document.title='owned'</script><img src=x onerror=document.title='owned'>{{FINDINGS}}"
        one = finding(1, message=evil, program=evil, host=evil, evidence=[evil])
        one["object"]["name"] = one["accesses"][0]["thread"] = evil
        one["accesses"][0]["stack"][0].update({"function": evil, "module": evil})
        shown = self.run_steps(self.page([one], "--title", "<b>" + evil),
                               "return [document.title, heading(), document.querySelectorAll('img, b').length, document.scripts.length];")
        self.assertEqual(shown[0], "<b>" + evil)
        self.assertIn(evil, shown[1])
        self.assertEqual(shown[2:], [0, 4])

    def test_needs_no_network(self):
        with open(self.page([finding(1)]), encoding="utf-8") as file:
            content = file.read()
        self.assertIn("default-src 'none'", content)
        self.assertEqual(re.findall(r'(?:src|href)="(?!data:,)', content), [])

    def test_redacted(self):
        with open(self.page([finding(1)], "--redact"), encoding="utf-8") as file:
            content = file.read()
        self.assertNotIn(ROOT, content)
        self.assertNotIn("finding_set_destroy", content)

    def test_nothing(self):
        shown = self.run_steps(self.page([]), "return [status(), $('empty').hidden];")
        self.assertEqual(shown, ["0 findings of 0, seen 0 times", False])

    def test_ten_thousand(self):
        page = self.page([finding(number) for number in range(10000)])
        shown = self.run_steps(page, """
          const loaded = performance.now(), most = [rows().length];
          const times = {};
          const measure = async (name, step) => {
            const start = performance.now(); await step(); document.body.offsetHeight;
            times[name] = performance.now() - start; most.push(rows().length);
          };
          await measure("scroll", () => { $("list").scrollTop = 300000; $("list").dispatchEvent(new Event("scroll")); });
          await measure("move", () => press("End"));
          await measure("filter", async () => {
            $("search").value = "write_77 variable"; $("search").dispatchEvent(new Event("input")); await wait(90); });
          return { times, most: Math.max(...most), status: status(), nodes: document.querySelectorAll("*").length };""",
                               shot="ten-thousand.png")
        self.assertLess(shown["most"], 60, "only the rows on the screen exist")
        self.assertLess(shown["nodes"], 1500)
        self.assertEqual(shown["status"], "111 findings of 10,000, seen 111 times")
        print(f"10,000 findings: {os.path.getsize(page) >> 20} MiB; milliseconds: {shown['times']}")


if __name__ == "__main__":
    unittest.main()
