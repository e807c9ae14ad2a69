import type { Browser, Page, Route } from "playwright-core";
import {
  type ConsoleService,
  noBrowser,
  openPage,
  signIn,
  startBrowser,
  startConsole,
} from "../../test/support/browser.ts";
import { removeFolder } from "../../test/support/service.ts";
import type { Figure } from "./figures.ts";

/**
 * A fleet that the page reads from this bench: registering as many devices with the service takes hours. Device n is
 * `d<n>`.
 */
export interface PretendedFleet {
  readonly devices: number;
  /** Where a device is when the stream is asked for the `turn`th time; 0 is the present. */
  readonly placeOf: (device: number, turn: number) => readonly [longitude: number, latitude: number];
  /** Devices that report with each answer of the stream. The page asks again when one ends, after a second. */
  readonly updates: number;
  /** Further events of an answer. */
  readonly others?: (turn: number) => string;
}

/** Measures with a browser and a service; without a browser it says so, and measures nothing. */
export async function inBrowser(
  measure: (browser: Browser, service: ConsoleService) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  if (noBrowser !== false) {
    process.stderr.write(`left out: ${noBrowser}\n`);
    return [];
  }
  const service = await startConsole();
  const browser = await startBrowser();
  try {
    return await measure(browser, service);
  } finally {
    await browser.close();
    await service.stop();
    removeFolder(service.directory);
  }
}

/** The console's map with such a fleet. `answered` is told of each answer of the stream before it is sent. */
export async function openFleet(
  browser: Browser,
  { url, email }: { readonly url: string; readonly email: string },
  fleet: PretendedFleet,
  answered: (turn: number) => void = () => undefined,
): Promise<Page> {
  const { page } = await openPage(browser, url);
  await page.route("**/api/devices?*", (route) => answerDevices(route, fleet.devices));
  let turn = 0;
  await page.route("**/api/stream*", async (route) => {
    const body = turn === 0 ? present(fleet) : changes(fleet, turn);
    answered(turn);
    turn += 1;
    await route.fulfill({ contentType: "text/event-stream", body });
  });
  await signIn(page, email);
  await page.locator("[data-live=true]").waitFor();
  return page;
}

async function answerDevices(route: Route, count: number): Promise<void> {
  const list = Array.from({ length: count }, (_, each) => ({
    ...{ id: `d${each}`, name: `Car ${each}`, min: null, tags: {} },
  }));
  await route.fulfill({ json: { success: true, error: null, devices: list } });
}

function event({ placeOf }: PretendedFleet, each: number, turn: number): string {
  const [longitude, latitude] = placeOf(each, turn);
  const location = {
    ...{ dateTime: new Date().toISOString(), longitude, latitude, speed: each % 90, course: each % 360 },
    ...{ alerts: [], alertTexts: [], warnings: [], warningTexts: [], hasCriticalAlert: false, attributes: {} },
  };
  const status = { connected: true, lastContact: location.dateTime };
  return `id: ${turn}\nevent: location\ndata: ${JSON.stringify({ deviceId: `d${each}`, location, status })}\n\n`;
}

function present(fleet: PretendedFleet): string {
  const events = Array.from({ length: fleet.devices }, (_, each) => event(fleet, each, 0));
  return `retry: 1000\n\n${events.join("")}id: 1\nevent: live\ndata: {}\n\n`;
}

function changes(fleet: PretendedFleet, turn: number): string {
  const { devices, updates, others } = fleet;
  const events = Array.from({ length: updates }, (_, each) => event(fleet, (turn * updates + each) % devices, turn));
  return `id: ${turn}\nevent: live\ndata: {}\n\n${events.join("")}${others?.(turn) ?? ""}`;
}
