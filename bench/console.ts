import type { Page } from "playwright-core";
import { inBrowser, openFleet, type PretendedFleet } from "./support/console-fleet.ts";
import type { Figure } from "./support/figures.ts";

const devices = 50_000;
/** Devices at the corners of the fleet: with them alone the map shows the same part of the world. */
const corners = 2;
/** Positions that come each second. */
const updates = 1000;
const pairs = 5;
const measuredMs = 4000;

/** Devices stand around 40 cities, as fleets do: most of them near to others. */
function placeOf(each: number, turn: number): [number, number] {
  if (each < corners) return each === 0 ? [-112, -32] : [102, 44];
  const city = each % 40;
  return [
    -110 + (city % 8) * 30 + Math.sin(each) * 1.5 + turn / 5000,
    -30 + Math.floor(city / 8) * 18 + Math.cos(each * 7) * 1.5,
  ];
}

/**
 * A map with many devices, beside the same map with only the two at its corners: frames a second while it is moved, in
 * Chromium's software rendering.
 */
export function consoleMap(): Promise<readonly Figure[]> {
  return inBrowser(async (browser, service) => {
    const few: PretendedFleet = { devices: corners, placeOf, updates: 0 };
    const empty = await openFleet(browser, service, few);
    const full = await openFleet(browser, service, { devices, placeOf, updates });
    const rates: { readonly empty: number; readonly full: number }[] = [];
    for (let pair = 0; pair < pairs; pair += 1)
      rates.push({ empty: await framesOf(empty), full: await framesOf(full) });
    const middle = (of: "empty" | "full") =>
      rates.map((each) => each[of]).toSorted((left, right) => left - right)[Math.floor(pairs / 2)] ?? 0;
    const heap = Number(await full.evaluate("performance.memory.usedJSHeapSize")) / 1e6;
    const made = `${middle("full").toFixed(1)} of ${middle("empty").toFixed(1)} frames/s, ${devices} devices, ${updates} positions/s, heap ${heap.toFixed(0)} MB`;
    return [
      {
        ...{ name: "map with devices, of one without", value: middle("full") / middle("empty"), unit: "" },
        ...{ limit: 0.7, bound: "at least", made },
      },
    ];
  });
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
