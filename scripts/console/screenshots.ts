/**
 * Pictures of each page of the console, light, dark and narrow, in `.tmp/screenshots`: `npm run screenshots`. For
 * people to look at; no test. With the parts of paths as arguments only those pages.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/observe/index.ts";
import { protocols } from "../../src/protocols/index.ts";
import { startFleet } from "../../src/simulator/index.ts";
import { openPage, signIn, startBrowser, startConsole } from "../../test/support/browser.ts";

const target = join(import.meta.dirname, "../../.tmp/screenshots");
/** A map fetches and draws its coasts and names in this time, on a slow machine, too; other pages are there sooner. */
const mapMs = 6000;
const pageMs = 1500;
const looks = {
  light: {},
  dark: { theme: "dark" },
  narrow: { width: 360, height: 740, locale: "es-CO" },
} as const;

const service = await startConsole();
const fleet = await startFleet({
  ...{
    devices: 25,
    interval: 2,
    protocols: protocols.filter(({ simulate }) => simulate),
    seed: "streets",
    host: "127.0.0.1",
    port: service.devicePort,
  },
  clock: systemClock,
  register: async (devices) => {
    for (const { id, name } of devices) await service.call("POST", "/api/devices", { id, name });
  },
});
const [first] = fleet.devices;
const id = first?.id ?? "";
await service.call("POST", "/api/groups", { name: "Bogotá", devices: fleet.devices.map((device) => device.id) });
await service.call("POST", "/api/geofences", {
  ...{ name: "Depot", geometry: { type: "Point", coordinates: [-74.08, 4.65], radius: 2 } },
});
await service.call("POST", "/api/alertRules", {
  ...{ name: "Speed", type: "speedOver", parameters: { kmh: 50 }, critical: true },
  devices: fleet.devices.slice(0, 3).map((device) => device.id),
});

const pages = {
  "sign-in": "/sign-in",
  map: "/map",
  selected: `/map?device=${id}`,
  now: `/device/${id}/now`,
  past: `/device/${id}/past`,
  "device-alerts": `/device/${id}/alerts`,
  commands: `/device/${id}/commands`,
  "device-rules": `/device/${id}/rules`,
  limits: `/device/${id}/limits`,
  raw: `/device/${id}/raw`,
  alerts: "/alerts?state=all",
  zones: "/zones",
  "zone-new": "/zones/new",
  rules: "/rules",
  "rule-new": "/rules/new",
  unknown: "/device/nobody/now",
  devices: "/manage/devices",
  import: "/manage/import",
  quarantine: "/manage/quarantine",
  groups: "/manage/groups",
  links: "/manage/links",
  users: "/manage/users",
  webhooks: "/manage/webhooks",
  notices: `/manage/notices?device=${id}`,
  recipients: "/manage/recipients",
  mutes: "/manage/mutes",
  account: "/manage/account",
  accounts: "/manage/accounts",
  me: "/me",
};
const wanted = process.argv.slice(2);
const browser = await startBrowser();
mkdirSync(target, { recursive: true });
await new Promise((resolve) => setTimeout(resolve, mapMs));
for (const [look, options] of Object.entries(looks)) {
  const { page, problems } = await openPage(browser, service.url, options);
  for (const [name, path] of Object.entries(pages)) {
    if (wanted.length > 0 && !wanted.includes(name) && !wanted.includes(look)) continue;
    if (name === "sign-in") await page.goto(path);
    else if ((await page.locator("header nav").count()) === 0) await signIn(page, service.email, path);
    else await page.goto(path);
    await page.waitForTimeout(pageMs);
    if ((await page.locator("canvas.maplibregl-canvas").count()) > 0) await page.waitForTimeout(mapMs);
    await page.screenshot({ path: join(target, `${name}-${look}.png`) });
  }
  for (const problem of problems) console.log(`${look}: ${problem}`);
}
await browser.close();
await fleet.stop();
await service.stop();
console.log(target);
