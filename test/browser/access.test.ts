import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { type ConsoleService, noBrowser, openPage, signIn, startBrowser, startConsole } from "../support/browser.ts";
import { removeFolder } from "../support/service.ts";

const device = "490154203237518";
const pages = [
  "/map",
  `/device/${device}/now`,
  `/device/${device}/past`,
  `/device/${device}/commands`,
  `/device/${device}/limits`,
  "/alerts?state=all",
  "/zones",
  "/rules/new",
  "/manage/devices",
  "/manage/groups",
  "/manage/users",
  "/manage/links",
  "/manage/import",
  "/manage/notices",
  "/manage/recipients",
  "/manage/webhooks",
  "/manage/account",
  "/manage/accounts",
  "/me",
];

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

describe("every page can be used by everybody", { skip: noBrowser }, () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  let service: ConsoleService;
  let browser: Browser;

  before(async () => {
    service = await startConsole();
    browser = await startBrowser();
    await service.call("POST", "/api/devices", { id: device, name: "Van 1" });
    await service.report(device, { lat: 4.711, lon: -74.0721, speed: 40 });
    await service.call("POST", "/api/groups", { name: "North", devices: [device] });
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    if (service !== undefined) removeFolder(service.directory);
  });

  for (const theme of ["light", "dark"] as const)
    it(`as axe finds, ${theme}`, async () => {
      const { page } = await openPage(browser, service.url, { theme });
      await signIn(page, service.email);
      const found: string[] = [];
      for (const path of pages) {
        await page.goto(path);
        await page.locator("main h1").first().waitFor({ state: "attached" });
        await page.locator(".loading").first().waitFor({ state: "detached" });
        await page.evaluate(axe);
        const violations: readonly Finding[] = await page.evaluate("axe.run().then(({ violations }) => violations)");
        found.push(...violations.map(({ id, nodes }) => `${path}: ${id}: ${nodes.map(({ html }) => html).join(" ")}`));
      }
      assert.deepEqual(found, []);
    });
});
