import type { Browser, Page, Route } from "playwright-core";
import { noBrowser, openPage, signIn, startBrowser, startConsole } from "../test/support/browser.ts";
import { removeFolder } from "../test/support/service.ts";
import type { Figure } from "./support/figures.ts";

const devices = 50_000;
/** Positions that come each second. */
const updates = 1000;
const pairs = 5;
const measuredMs = 4000;

/** A map with many devices, beside the same map without any: frames a second while it is moved, in Chromium's software rendering. */
export async function consoleMap(): Promise<readonly Figure[]> {
  if (noBrowser !== false) {
    process.stderr.write(`left out: ${noBrowser}\n`);
    return [];
  }
  const service = await startConsole();
  const browser = await startBrowser();
  try {
    const empty = await mapOf(browser, service, 0);
    const full = await mapOf(browser, service, devices);
    const rates: { readonly empty: number; readonly full: number }[] = [];
    for (let pair = 0; pair < pairs; pair += 1)
      rates.push({ empty: await framesOf(empty), full: await framesOf(full) });
    const middle = (of: "empty" | "full") =>
      rates.map((each) => each[of]).toSorted((left, right) => left - right)[Math.floor(pairs / 2)] ?? 0;
    const heap = Number(await full.evaluate("performance.memory.usedJSHeapSize")) / 1e6;
    const made = `${middle("full").toFixed(1)} of ${middle("empty").toFixed(1)} frames/s, ${devices} devices, ${updates} positions/s, heap ${heap.toFixed(0)} MB`;
    return [
      {
        name: "map with devices, of one without",
        value: middle("full") / middle("empty"),
        unit: "",
        limit: 0.7,
        bound: "at least",
        made,
      },
    ];
  } finally {
    await browser.close();
    await service.stop();
    removeFolder(service.directory);
  }
}

/** The console's page, whose fleet is made here: the service would need hours to get so many devices. */
async function mapOf(
  browser: Browser,
  { url, email }: { readonly url: string; readonly email: string },
  count: number,
): Promise<Page> {
  const { page } = await openPage(browser, url);
  await page.route("**/api/devices?*", (route) => answerDevices(route, count));
  let asked = 0;
  await page.route("**/api/stream*", async (route) => {
    asked += 1;
    const body = asked === 1 ? present(count) : changes(count, asked);
    await route.fulfill({ contentType: "text/event-stream", body });
  });
  await signIn(page, email);
  await page.locator("[data-live=true]").waitFor();
  return page;
}

async function answerDevices(route: Route, count: number): Promise<void> {
  const list = Array.from({ length: count }, (_, each) => ({
    id: `d${each}`,
    name: `Car ${each}`,
    min: null,
    tags: {},
  }));
  await route.fulfill({ json: { success: true, error: null, devices: list } });
}

/** Devices stand around 40 cities, as fleets do: most of them near to others. */
function event(each: number, turn: number): string {
  const city = each % 40;
  const longitude = -110 + (city % 8) * 30 + Math.sin(each) * 1.5 + turn / 5000;
  const latitude = -30 + Math.floor(city / 8) * 18 + Math.cos(each * 7) * 1.5;
  const location = {
    ...{ dateTime: new Date().toISOString(), longitude, latitude, speed: each % 90, course: each % 360 },
    ...{ alerts: [], alertTexts: [], warnings: [], warningTexts: [], hasCriticalAlert: false, attributes: {} },
  };
  const status = { connected: true, lastContact: location.dateTime };
  return `id: ${turn}\nevent: location\ndata: ${JSON.stringify({ deviceId: `d${each}`, location, status })}\n\n`;
}

function present(count: number): string {
  const events = Array.from({ length: count }, (_, each) => event(each, 0));
  return `retry: 1000\n\n${events.join("")}id: 1\nevent: live\ndata: {}\n\n`;
}

/** What a second brings. The page asks again when an answer ends, after a second. */
function changes(count: number, turn: number): string {
  if (count === 0) return `id: ${turn}\nevent: live\ndata: {}\n\n`;
  return Array.from({ length: updates }, (_, each) => event((turn * updates + each) % count, turn)).join("");
}

/** Frames a second while the map is dragged to and fro. */
async function framesOf(page: Page): Promise<number> {
  await page.bringToFront();
  await page.evaluate(`{
    window.frames_ = 0;
    const count = () => { window.frames_ += 1; window.counting_ = requestAnimationFrame(count); };
    count();
  }`);
  const canvas = await page.locator("canvas.maplibregl-canvas").boundingBox();
  if (canvas === null) throw new Error("the map is not there");
  const [x, y] = [canvas.x + canvas.width / 2, canvas.y + canvas.height / 2];
  const began = performance.now();
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let step = 0; performance.now() - began < measuredMs; step += 1)
    await page.mouse.move(x + Math.sin(step / 3) * 120, y + Math.cos(step / 3) * 60);
  await page.mouse.up();
  const frames = Number(await page.evaluate("cancelAnimationFrame(window.counting_); window.frames_"));
  return (frames * 1000) / (performance.now() - began);
}
