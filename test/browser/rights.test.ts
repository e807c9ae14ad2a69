import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import {
  type ConsoleService,
  noBrowser,
  openPage,
  password,
  signIn,
  startBrowser,
  startConsole,
} from "../support/browser.ts";
import { removeFolder } from "../support/service.ts";

const van = "490154203237518";
const ana = { name: "Ana", email: "ana@example.com", country: "CO", timeZone: "America/Bogota" };

/** What of a page can be used: names of the buttons and links of its main part. */
const usable = `[...document.querySelectorAll("main :is(button, a, input, textarea, select):enabled, main a")]
  .filter((each) => each.checkVisibility())
  .map((each) => (each.getAttribute("aria-label") || each.textContent || each.name).trim())`;

describe("who may only look, in a browser", { skip: noBrowser }, () => {
  let service: ConsoleService;
  let browser: Browser;
  let page: Page;
  let userId: string;
  let places: { readonly zone: string; readonly rule: string };
  const refused: string[] = [];
  let problems: readonly string[] = [];

  async function show(path: string): Promise<readonly string[]> {
    await page.goto(path);
    await page.locator("main h1").first().waitFor({ state: "attached" });
    await page.locator(".loading").first().waitFor({ state: "detached" });
    return await page.evaluate(usable);
  }

  before(async () => {
    service = await startConsole();
    browser = await startBrowser();
    await service.call("POST", "/api/devices", { id: van, name: "Van 1" });
    await service.report(van, { lat: 4.711, lon: -74.0721, speed: 40 });
    const group = Object(await service.call("POST", "/api/groups", { name: "South", devices: [van] }));
    const zone = { name: "Depot", geometry: { type: "Point", coordinates: [-74.08, 4.65], radius: 2 } };
    const rule = { name: "Speed", type: "speedOver", parameters: { kmh: 50 }, devices: [van], critical: true };
    const madeZone = Object(await service.call("POST", "/api/geofences", zone));
    const madeRule = Object(await service.call("POST", "/api/alertRules", rule));
    places = { zone: madeZone.id, rule: madeRule.id };
    await service.report(van, { lat: 4.712, lon: -74.0721, speed: 90 });
    const wayIn = { password, presentSecret: service.apiKey };
    const user = await service.call("POST", "/api/users", { ...ana, ...wayIn, privileges: ["read"], group: group.id });
    userId = Object(user).id;
    const opened = await openPage(browser, service.url);
    ({ page, problems } = opened);
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`);
    });
    await signIn(page, ana.email);
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    if (service !== undefined) removeFolder(service.directory);
  });

  it("is shown no act that the service would refuse, and asks for nothing that it may not see", async () => {
    const acts =
      /\b(Add|Save|Delete|Send|Acknowledge|Close|Mute|Edit|Set|Remove|Resend|Take it|Select all|Import|Raw|Quarantine|Recipients|Accounts)\b/;
    const tabs = ["now", "past", "alerts", "commands", "rules", "limits"];
    const managed = ["devices", "groups", "users", "webhooks", "mutes", "links", "account", `notices?device=${van}`];
    const paths = [
      ...["/map", "/alerts?state=all", "/zones", "/rules", `/zones/${places.zone}`, `/rules/${places.rule}`],
      ...tabs.map((tab) => `/device/${van}/${tab}`),
      ...managed.map((tab) => `/manage/${tab}`),
    ];
    const found: string[] = [];
    for (const path of paths)
      found.push(...(await show(path)).filter((name) => acts.test(name)).map((name) => `${path}: ${name}`));
    assert.deepEqual(found, []);
    assert.deepEqual(refused, []);
  });

  it("reads that a page is not for it, where it opens its address", async () => {
    await show("/manage/recipients");
    await page.getByText("You may not do this.").waitFor();
  });

  it("takes the past of a device away as a file of each format", async () => {
    await show(`/device/${van}/past`);
    const begins = { CSV: "\uFEFFtime", GPX: "<?xml", KML: "<?xml", GeoJSON: "{" };
    for (const [name, first] of Object.entries(begins)) {
      const coming = page.waitForEvent("download");
      await page.getByRole("link", { name, exact: true }).click();
      const file = await coming;
      assert.ok(file.suggestedFilename().endsWith(`.${name.toLowerCase()}`));
      const text = await readFile(await file.path(), "utf8");
      assert.equal(text.slice(0, first.length), first, name);
      assert.ok(text.includes("4.711"));
    }
  });

  it("is shown more when it may do more, and less as soon as the service has refused", async () => {
    const set = (value: readonly string[]) =>
      service.call("PATCH", `/api/users/${userId}`, [{ op: "add", path: "/privileges", value }]);
    await set(["write"]);
    await show("/manage/groups");
    const add = page.getByRole("button", { name: "Add a group" });
    await add.click();
    await set(["read"]);
    await page.getByRole("dialog").locator("input").first().fill("North");
    await page.getByRole("dialog").locator("button.main").click();
    await page.getByRole("dialog").getByText("You may not do this.").waitFor();
    await add.waitFor({ state: "detached" });
    assert.deepEqual(problems, []);
  });
});
