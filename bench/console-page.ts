import type { Browser } from "playwright-core";
import { type ConsoleService, openPage, signIn } from "../test/support/browser.ts";
import { inBrowser, openFleet, type PretendedFleet } from "./support/console-fleet.ts";
import type { Figure } from "./support/figures.ts";

/** Devices of the account whose console is opened. */
const devices = 1000;
const tries = 5;
/** An hour of these devices, each of which reports every ten seconds, comes in some minutes. */
const hourEvents = 360_000;
const eventsAtOnce = 6000;
/** What is loaded once is loaded before the heap is measured. */
const settledEvents = 90_000;
const samples = 12;

/** How soon the console is there with a fleet, and how its memory grows while an hour's events come. */
export function consolePage(): Promise<readonly Figure[]> {
  return inBrowser(async (browser, service) => [...(await paints(browser, service)), await growth(browser, service)]);
}

/** A browser that has nothing of the console but the session. */
async function paints(browser: Browser, service: ConsoleService): Promise<readonly Figure[]> {
  for (let each = 0; each < devices; each += 1) {
    await service.call("POST", "/api/devices", { id: `p${each}`, name: `Car ${each}` });
    await service.report(`p${each}`, { lat: 4.5 + (each % 40) / 100, lon: -74.2 + each / 5000, speed: each % 90 });
  }
  const first = await openPage(browser, service.url);
  await signIn(first.page, service.email);
  const storageState = await first.context.storageState();
  await first.context.close();
  const found: { readonly paint: number; readonly whole: number }[] = [];
  for (let each = 0; each < tries; each += 1) {
    const context = await browser.newContext({ baseURL: service.url, storageState });
    const page = await context.newPage();
    const began = performance.now();
    await page.goto("/map", { waitUntil: "commit" });
    await page.locator(`.map[data-in-view="${devices}"]`).waitFor();
    const whole = performance.now() - began;
    const paint = Number(await page.evaluate(`performance.getEntriesByName("first-contentful-paint")[0].startTime`));
    found.push({ paint, whole });
    await context.close();
  }
  const middle = (of: "paint" | "whole") =>
    (found.map((each) => each[of]).toSorted((left, right) => left - right)[Math.floor(tries / 2)] ?? 0) / 1000;
  const made = `${devices} devices, ${tries} browsers without anything cached`;
  return [
    { name: "first paint of the console", value: middle("paint"), unit: "s", limit: 1.5, bound: "under", made },
    { name: "until all devices are on the map", value: middle("whole"), unit: "s", made },
  ];
}

/** The slope of the heap, after the collector has run, by least squares. */
async function growth(browser: Browser, service: ConsoleService): Promise<Figure> {
  const fleet: PretendedFleet = {
    devices,
    placeOf: (each, turn) => [-74.2 + each / 5000 + (turn % 100) / 10_000, 4.5 + (each % 40) / 100],
    updates: eventsAtOnce,
  };
  let told = 0;
  const page = await openFleet(browser, service, fleet, () => {
    told += eventsAtOnce;
  });
  const cdp = await page.context().newCDPSession(page);
  const heap = async () => {
    await cdp.send("HeapProfiler.collectGarbage");
    return (await cdp.send("Runtime.getHeapUsage")).usedSize / 1e6;
  };
  const measured: { readonly hours: number; readonly heap: number }[] = [];
  for (let sample = 0; sample <= samples; sample += 1) {
    const until = settledEvents + (sample * hourEvents) / samples;
    while (told < until) await page.waitForTimeout(50);
    measured.push({ hours: told / hourEvents, heap: await heap() });
  }
  const mean = (of: "hours" | "heap") => measured.reduce((sum, each) => sum + each[of], 0) / measured.length;
  const [hours, level] = [mean("hours"), mean("heap")];
  const covariance = measured.reduce((sum, each) => sum + (each.hours - hours) * (each.heap - level), 0);
  const variance = measured.reduce((sum, each) => sum + (each.hours - hours) ** 2, 0);
  const heaps = measured.map((each) => each.heap.toFixed(1)).join(" ");
  return {
    ...{ name: "growth of the console's heap in an hour", value: covariance / variance, unit: "MB" },
    ...{ limit: 2, bound: "under", made: `${hourEvents} positions of ${devices} devices, told at once; MB: ${heaps}` },
  };
}
