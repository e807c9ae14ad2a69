import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import {
  type ConsoleService,
  noBrowser,
  type OpenPage,
  openPage,
  password,
  signIn,
  startBrowser,
  startConsole,
} from "../support/browser.ts";
import { Peer } from "../support/gateway.ts";
import { removeFolder } from "../support/service.ts";

const van = "490154203237518";
const truck = "490154203237526";
const bogota = { lat: 4.711, lon: -74.0721 };
const scripted = "<img src=x onerror=alert(1)> & <b>bold</b>";

describe("the console in a browser", { skip: noBrowser }, () => {
  let service: ConsoleService;
  let browser: Browser;
  const opened: OpenPage[] = [];

  async function open(...options: Parameters<typeof openPage> extends [unknown, unknown, ...infer O] ? O : never) {
    const page = await openPage(browser, service.url, ...options);
    opened.push(page);
    return page;
  }

  before(async () => {
    service = await startConsole();
    browser = await startBrowser();
    await service.call("POST", "/api/devices", { id: van, name: "Van 1" });
    await service.call("POST", "/api/devices", { id: truck, name: scripted });
    await service.report(van, { ...bogota, speed: 40 });
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    if (service !== undefined) removeFolder(service.directory);
  });

  it("a wrong password is said, and the right one shows the fleet, live", async () => {
    const { page } = await open();
    await page.goto("/map");
    await page.fill("input[name=email]", service.email);
    await page.fill("input[name=password]", "a wrong one");
    await page.locator("form button.main").click();
    await page.locator("[role=alert]").waitFor();
    await page.fill("input[name=password]", password);
    await page.locator("form button.main").click();
    await page.locator("[data-live=true]").waitFor();
    await page.locator(".map[data-in-view='1']").waitFor();
    const row = page.locator("[role=listitem]", { hasText: "Van 1" });
    await row.getByText("40 km/h").waitFor();
    await service.report(van, { lat: 4.712, lon: -74.0722, speed: 55 });
    await row.getByText("55 km/h").waitFor();
  });

  it("who is not signed in makes no request that fails; an address that is none is told so", async () => {
    const { page } = await open();
    const failed: string[] = [];
    page.on("response", (response) => {
      if (!response.ok()) failed.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    await page.goto("/map");
    await page.locator("input[name=email]").waitFor();
    assert.deepEqual(failed, []);
    await signIn(page, service.email, "/nowhere");
    await page.getByText("There is no such page.").waitFor();
    assert.deepEqual(failed, ["404 /nowhere"]);
  });

  it("names are texts, whatever is in them", async () => {
    const { page } = await open();
    await signIn(page, service.email, `/device/${truck}/now`);
    await page.locator("h1", { hasText: scripted }).waitFor();
    assert.equal(await page.locator("h1 b, h1 img").count(), 0);
  });

  it("a device that has never reported is said to be so", async () => {
    const { page } = await open();
    await signIn(page, service.email, `/device/${truck}/now`);
    await page.getByText("Offline · never").waitFor();
    await page.getByText("It has never reported.").waitFor();
    assert.equal(await page.title(), `${scripted} · Waybeam`);
  });

  it("the past is a line that can be played", async () => {
    for (let minute = 0; minute < 5; minute += 1)
      await service.report(van, { lat: 4.713 + minute / 1000, lon: -74.0722, speed: 30 });
    const { page } = await open();
    await signIn(page, service.email, `/device/${van}/past`);
    await page.locator("[data-fixes='7']").waitFor();
    await page.locator("[data-chart=speed] canvas").waitFor();
    const first = await page.locator(".player output").textContent();
    await page.keyboard.press("]");
    await page.locator(".player output", { hasNotText: first ?? "" }).waitFor();
  });

  it("the past is told by days, of another range when it is chosen", async () => {
    const { page } = await open();
    await signIn(page, service.email, `/device/${van}/past?from=2020&to=junk`);
    const days = page.locator("table", { has: page.getByRole("columnheader", { name: "Driving" }) });
    await days.locator("tbody tr").first().waitFor();
    const asked = page.waitForResponse((response) => response.url().endsWith("/days"));
    await page.getByRole("button", { name: "7 days" }).click();
    assert.equal((await asked).status(), 200);
    await days.locator("tbody tr").first().waitFor();
  });

  it("a device that is none has one page that says so, with a way back", async () => {
    const { page } = await open();
    await signIn(page, service.email, "/device/nope/past");
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    assert.equal(await page.getByRole("navigation", { name: "Of this device" }).count(), 0);
    await page.locator("main").getByRole("link", { name: "Map" }).click();
    await page.locator(".map[data-in-view]").waitFor();
  });

  it("a command is sent, and what became of it is shown live", async () => {
    const { page } = await open();
    await signIn(page, service.email, `/device/${van}/commands`);
    await page.locator("form input[spellcheck=false]").fill("STATUS");
    await page.locator("form button.main").click();
    const row = page.locator("tbody tr", { hasText: "STATUS" });
    await row.locator("b.queued").waitFor();
    await row.getByRole("button").click();
    await page.getByRole("dialog").locator("button.danger").click();
    await row.locator("b.cancelled").waitFor();
  });

  it("a connected tracker's reply to a command is shown", async () => {
    const id = "490154203237559";
    await service.call("POST", "/api/devices", { id, name: "Lorry 1" });
    const tracker = new Peer(service.devicePort);
    tracker.send(`#L#${id};NA\r\n`);
    await tracker.expect("#AL#1\r\n");
    const { page } = await open();
    await signIn(page, service.email, `/device/${id}/commands`);
    await page.locator("form input[spellcheck=false]").fill("how are you");
    await page.locator("form button.main").click();
    await tracker.expect("#M#how are you\r\n");
    tracker.send("#M#all is well\r\n");
    await page.locator("tbody tr", { hasText: "how are you" }).getByText("all is well").waitFor();
    tracker.end();
  });

  it("a circle is drawn, is a zone of the account, and who enters it is told of", async () => {
    const { page } = await open();
    await signIn(page, service.email, "/zones/new");
    await page.locator("form input").first().fill("Depot");
    const canvas = page.locator("canvas.maplibregl-canvas");
    await canvas.waitFor();
    await page.getByRole("button", { name: "Circle" }).click();
    const box = await canvas.boundingBox();
    assert.ok(box !== null);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.move(box.x + box.width / 2 + 40, box.y + box.height / 2, { steps: 4 });
    await page.mouse.click(box.x + box.width / 2 + 60, box.y + box.height / 2);
    await page.getByText("Radius").waitFor();
    await page.locator("form button.main").click();
    await page.locator("li", { hasText: "Depot" }).waitFor();
    const { geofences } = Object(await service.call("GET", "/api/geofences"));
    assert.equal(geofences[0].geometry.type, "Point");
    assert.ok(geofences[0].geometry.radius > 0);
    const bike = "490154203237567";
    await service.call("POST", "/api/devices", { id: bike, name: "Bike 1" });
    await service.call("POST", "/api/alertRules", {
      ...{ name: "Keep out", type: "forbiddenZone", parameters: { zones: [geofences[0].id] }, devices: [bike] },
    });
    await page.goto("/alerts");
    await page.getByText("No alert is open.").waitFor();
    const [lon, lat] = geofences[0].geometry.coordinates;
    await service.report(bike, { lat, lon });
    await page.locator("article", { hasText: "Bike 1" }).waitFor();
  });

  it("an alert stands out as it happens, and is acknowledged with a note", async () => {
    await service.call("POST", "/api/alertRules", {
      ...{ name: "Speed", type: "speedOver", parameters: { kmh: 80 }, devices: [van], critical: true },
    });
    const { page } = await open();
    const told = Promise.withResolvers<void>();
    // The list of alerts was read before this one, and comes after it.
    await page.route("**/api/alerts?*", async (route) => {
      const response = await route.fetch();
      await told.promise;
      await route.fulfill({ response });
    });
    await signIn(page, service.email);
    await page.locator("[data-live=true]").waitFor();
    // Not so far that the place can't be right, however soon it comes.
    await service.report(van, { lat: 4.7121, lon: -74.0722, speed: 120 });
    const card = page.locator(".rail article");
    await card.getByText("Van 1").waitFor();
    const listed = page.waitForResponse((response) => response.url().includes("/api/alerts?"));
    told.resolve();
    await (await listed).finished();
    await card.getByRole("button", { name: "Acknowledge" }).click();
    await page.getByRole("dialog").locator("textarea").fill("I call the driver");
    await page.getByRole("dialog").locator("button.main").click();
    await card.getByText("I call the driver").waitFor();
    const { alerts } = Object(await service.call("GET", "/api/alerts"));
    assert.equal(alerts[0].acknowledgement.note, "I call the driver");
  });

  it("a lost connection is said, and what was missed comes when it is back", async () => {
    const { page, context } = await open();
    await signIn(page, service.email);
    await page.locator("[data-live=true]").waitFor();
    await context.setOffline(true);
    await page.locator(".banner").waitFor();
    await service.report(van, { lat: 4.7123, lon: -74.0722, speed: 66 });
    await context.setOffline(false);
    await page.locator("[role=listitem]", { hasText: "Van 1" }).getByText("66 km/h").waitFor();
    await page.locator(".banner").waitFor({ state: "detached" });
  });

  it("many tabs have one stream, and the next tab goes on with it", async () => {
    const { page, context } = await open();
    const streams: string[] = [];
    context.on("request", (request) => {
      if (request.url().includes("/api/stream")) streams.push(request.url());
    });
    await signIn(page, service.email, "/manage/groups");
    const bus = "490154203237542";
    await service.call("POST", "/api/devices", { id: bus, name: "Bus 1" });
    // A browser has six connections for one service.
    for (let tab = 0; tab < 6; tab += 1) {
      const other = await context.newPage();
      await other.goto("/alerts");
      await other.getByRole("heading", { name: "Alerts" }).waitFor();
    }
    const tabs = [await context.newPage(), await context.newPage()];
    for (const tab of tabs) {
      await tab.goto("/map");
      await tab.locator("[data-live=true]").waitFor();
    }
    const isHeard = (text: string) =>
      Promise.all(tabs.map((tab) => tab.locator("[role=listitem]", { hasText: "Bus 1" }).getByText(text).waitFor()));
    await service.report(bus, { ...bogota, speed: 57 });
    await isHeard("57 km/h");
    assert.equal(streams.length, 1);
    await page.close();
    await service.report(bus, { lat: 4.7112, lon: -74.0721, speed: 58 });
    await isHeard("58 km/h");
    assert.equal(streams.length, 2);
  });

  it("a user of one group sees that group alone", async () => {
    const group = Object(await service.call("POST", "/api/groups", { name: "South", devices: [truck] }));
    const person = { name: "Ana", email: "ana@example.com", country: "CO", timeZone: "America/Bogota" };
    const wayIn = { password, presentSecret: service.apiKey };
    await service.call("POST", "/api/users", { ...person, ...wayIn, privileges: ["read"], group: group.id });
    const { page } = await open();
    await signIn(page, person.email);
    await page.locator("[data-live=true]").waitFor();
    await page.locator("[role=listitem]", { hasText: scripted }).waitFor();
    assert.equal(await page.locator("[role=listitem]").count(), 1);
  });

  it("is whole in Spanish on a phone", async () => {
    const { page } = await open({ locale: "es-CO", width: 360, height: 720 });
    await signIn(page, service.email);
    await page.getByRole("link", { name: "Alertas" }).click();
    await page.getByRole("heading", { name: "Alertas" }).waitFor();
    const wider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    assert.equal(wider, false);
  });

  it("a session that has ended asks to sign in over the page, and the form keeps its input", async () => {
    const { page, context } = await open();
    await signIn(page, service.email, "/manage/groups");
    await page.getByRole("button", { name: "Add a group" }).click();
    await page.getByRole("dialog").locator("input").first().fill("North");
    await context.clearCookies();
    await page.getByRole("dialog").locator("button.main").click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.locator("input[name=password]").fill(password);
    await again.locator("button.main").click();
    await page.locator("tbody tr", { hasText: "North" }).waitFor();
  });

  it("broke no rule of its policy, and threw nothing", () => {
    assert.deepEqual(
      opened.flatMap(({ problems }) => problems),
      [],
    );
  });
});

describe("the first start", { skip: noBrowser }, () => {
  it("leads by a link, good once, from no password to a moving dot", async () => {
    const service = await startConsole({ hasPassword: false });
    const browser = await startBrowser();
    try {
      await service.call("POST", "/api/devices", { id: van, name: "Van 1" });
      const { page, problems } = await openPage(browser, service.url);
      await page.goto(service.firstPath);
      await page.fill("input[name=password]", password);
      await page.locator("form button.main").click();
      await page.locator("[data-live=true]").waitFor();
      await service.report(van, { ...bogota, speed: 40 });
      await page.locator(".map[data-in-view='1']").waitFor();
      const again = await openPage(browser, service.url);
      await again.page.goto(service.firstPath);
      await again.page.fill("input[name=password]", password);
      await again.page.locator("form button.main").click();
      await again.page.locator("[role=alert]").waitFor();
      assert.deepEqual([...problems, ...again.problems], []);
    } finally {
      await browser.close();
      await service.stop();
      removeFolder(service.directory);
    }
  });
});
