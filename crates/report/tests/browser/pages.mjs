// Every page in a real browser, in two widths and both schemes: looked at (screenshots in $OUT), checked by axe, reached by
// keyboard, printed; and nothing may be asked of any other place.
import { spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";

const { CHROMIUM, PROGRAM, WORK, OUT } = process.env;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const failures = [];
const check = (holds, words) => holds || failures.push(words);

/** Starts the server, and says where it is. */
function serve() {
  const words = ["budget", "serve", "clinic.budget", "--port", "0", "--stop-after", "300", "--token-file", "token"];
  const child = spawn(PROGRAM, words, { cwd: WORK, stdio: ["ignore", "ignore", "pipe"] });
  const address = new Promise((found, lost) => {
    let said = "";
    child.stderr.on("data", (text) => {
      said += text;
      const match = said.match(/http:\/\/[^/\s]+/);
      if (match) found(match[0]);
    });
    child.on("exit", () => lost(new Error(`the server ended: ${said}`)));
  });
  return { child, address };
}

/** What a page asks for, beside itself. */
function watched(page, own) {
  const asked = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(own) && !url.startsWith("data:")) asked.push(url);
  });
  page.on("console", (message) => message.type() === "error" && asked.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => asked.push(`error: ${error}`));
  return asked;
}

/** Rules of WCAG 2.2 A and AA, and good practice. */
async function accessible(page, name) {
  // Run by the browser's own protocol: the page's policy allows no script, and stays as it is.
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  for (const { id, help, nodes } of found.violations) {
    failures.push(`${name}: axe ${id} (${help}): ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
  }
}

/** Everything that can be used is reached by the tabulator, in order, and shows that it is. */
async function reachable(page, name) {
  const wanted = await page.evaluate(() => {
    const all = document.querySelectorAll("a[href], button, input:not([type=hidden]), summary, [tabindex='0']");
    const seen = [...all].filter((element) => element.checkVisibility({ contentVisibilityAuto: true }));
    seen.forEach((element, place) => (element.dataset.place = place));
    return seen.length;
  });
  const reached = new Set();
  await page.evaluate(() => document.activeElement?.blur());
  for (let step = 0; step < wanted + 5; step += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => document.activeElement?.dataset?.place);
    if (place !== undefined) reached.add(place);
  }
  check(reached.size === wanted, `${name}: ${reached.size} of ${wanted} parts are reached by keyboard`);
}

async function look(browser, name, url, own) {
  for (const [width, size] of [[390, "phone"], [1280, "desktop"]]) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme,
        javaScriptEnabled: true,
        serviceWorkers: "block",
      });
      const page = await context.newPage();
      const asked = watched(page, own);
      const answer = await page.goto(url, { waitUntil: "networkidle" });
      check(answer === null || answer.ok(), `${name}: ${answer?.status()}`);
      const label = `${name}-${size}-${colorScheme}`;
      await page.screenshot({ path: join(OUT, `${label}.png`), fullPage: true });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      check(wide <= 0, `${label}: ${wide} pixels wider than the screen`);
      // A table that is scrolled hides its last columns, ε among them.
      const hidden = await page.evaluate(() =>
        [...document.querySelectorAll(".scroll:has(> .cards)")].filter((box) => box.scrollWidth > box.clientWidth).length);
      check(hidden === 0, `${label}: ${hidden} tables have columns out of sight`);
      const cut = await page.evaluate(() =>
        [...document.querySelectorAll("svg text")].filter((text) => text.checkVisibility() && text.textContent.endsWith("…")).length);
      check(cut === 0 || size === "desktop", `${label}: ${cut} labels are cut`);
      check(asked.length === 0, `${label}: asked for ${asked.join(", ")}`);
      await accessible(page, label);
      if (size === "desktop" && colorScheme === "light") await reachable(page, label);
      await context.close();
    }
  }
}

/** Printed, with everything on it. */
async function printed(browser, name, url) {
  const page = await browser.newPage();
  await page.goto(url);
  const path = join(OUT, `${name}.pdf`);
  await page.pdf({ path, format: "A4" });
  check(statSync(path).size > 10_000, `${name}: the printed page is empty`);
  await page.close();
}

/** A file is sent by the form and its verdict shown; a plan is worked out; a lost job is given up with the token. */
async function used(browser, address) {
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(`${address}/verify`);
  await page.setInputFiles("input[type=file]", join(WORK, "private", "model.json"));
  await page.click("button");
  check((await page.textContent("main")).includes("Guarantee"), "an uploaded model is not verified");
  await page.goto(`${address}/budget/1`);
  await page.fill("input[name=epsilon]", "0.3");
  await page.fill("input[name=delta]", "1e-6");
  await page.click("text=Work it out");
  check((await page.textContent("main")).includes("Fits"), "a plan is not worked out");
  await page.goto(`${address}/budget/1`);
  await page.click("summary >> text=no longer running");
  await page.fill("input[name=token]", "wrong, and long enough");
  await page.click("button >> text=Give job");
  check((await page.textContent("main")).includes("Nothing was changed"), "a wrong token is taken");
  await page.goto(`${address}/budget/1`);
  await page.click("summary >> text=no longer running");
  await page.fill("input[name=token]", "0123456789abcdef0123456789abcdef");
  await page.click("button >> text=Give job");
  check((await page.textContent("main")).includes("is closed"), "a job is not given up");
  await page.close();
}

const server = serve();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const address = await server.address;
  const file = (name) => `file://${join(WORK, name)}`;
  const pages = [
    ["one", file("one.html"), file("one.html")],
    ["report", file("report.html"), file("report.html")],
    ["budgets", `${address}/`, address],
    ["budget", `${address}/budget/1`, address],
    ["history", `${address}/budget/1/history`, address],
    ["plan", `${address}/budget/1/plan?epsilon=1&delta=1e-6`, address],
    ["verify", `${address}/verify`, address],
  ];
  for (const [name, url, own] of pages) await look(browser, name, url, own);
  await printed(browser, "report", file("report.html"));
  await used(browser, address);
} finally {
  await browser.close();
  server.child.kill();
}
failures.forEach((failure) => console.error(failure));
console.log(failures.length === 0 ? `pages: all is well; pictures are in ${OUT}` : `pages: ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);
