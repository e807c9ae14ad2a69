import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { type ConsoleService, noBrowser, openPage, startBrowser, startConsole } from "../support/browser.ts";
import { removeFolder } from "../support/service.ts";

const van = "490154203237518";
const bogota = { lat: 4.711, lon: -74.0721 };
const scripted = "<b>Van</b> & co";

describe("the page of a link", { skip: noBrowser }, () => {
  let service: ConsoleService;
  let browser: Browser;

  before(async () => {
    service = await startConsole();
    browser = await startBrowser();
    await service.call("POST", "/api/devices", { id: van, name: scripted });
    await service.report(van, { ...bogota, speed: 40 });
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    if (service !== undefined) removeFolder(service.directory);
  });

  it("shows where its devices are, live, to who is not signed in, until it is ended", async () => {
    const { page, problems } = await openPage(browser, service.url);
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.url()} ${request.headers().cookie ?? ""}`));
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const made = Object(await service.call("POST", "/api/shares", { deviceId: van, expires, name: "Delivery" }));
    await page.goto(made.path);
    await page.locator("[data-live=true] h1", { hasText: "Delivery" }).waitFor();
    const row = page.locator("li", { hasText: scripted });
    await row.getByText("40 km/h").waitFor();
    await service.report(van, { lat: 4.712, lon: -74.0722, speed: 55 });
    await row.getByText("55 km/h").waitFor();
    assert.ok(asked.every((request) => !request.includes(made.token) && !request.includes(van)));
    await service.call("DELETE", `/api/shares/${made.share.id}`);
    await page.locator("h1", { hasText: "This link is not valid." }).waitFor();
    await page.goto(`/s#wbs_${"A".repeat(43)}`);
    await page.locator("h1", { hasText: "This link is not valid." }).waitFor();
    assert.deepEqual(problems, []);
  });
});
