import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { totp } from "../../src/auth/totp.ts";
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
import { removeFolder } from "../support/service.ts";

const van = "490154203237518";
const hostile = '<img src=x onerror="alert(1)"> \u0007 \u202Egpj';

describe("what is managed, in a browser", { skip: noBrowser }, () => {
  let service: ConsoleService;
  let browser: Browser;
  const opened: OpenPage[] = [];

  async function open(path: string): Promise<Page> {
    const entry = await openPage(browser, service.url);
    opened.push(entry);
    await signIn(entry.page, service.email, path);
    return entry.page;
  }
  /** The list that a call of the API answers. */
  async function list(path: string, name: string): Promise<readonly Record<string, unknown>[]> {
    return Object(await service.call("GET", path))[name];
  }
  const dialog = (page: Page) => page.getByRole("dialog");

  before(async () => {
    service = await startConsole();
    browser = await startBrowser();
    await service.call("POST", "/api/devices", { id: van, name: hostile, tags: { "a: b": "x\ny" } });
  });
  after(async () => {
    await browser?.close();
    await service?.stop();
    if (service !== undefined) removeFolder(service.directory);
  });

  it("a device is changed without losing what the form does not show, and deleted after a question", async () => {
    const page = await open("/manage/devices");
    const row = page.locator("[role=listitem]");
    await row.getByText('<img src=x onerror="alert(1)"> ␇ �gpj').waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await dialog(page).getByLabel("Phone number").fill("not a number!");
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await dialog(page).locator(".problem").first().waitFor();
    await dialog(page).getByLabel("Phone number").fill("+573001234567");
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await dialog(page).waitFor({ state: "detached" });
    const [device] = await list("/api/devices", "devices");
    assert.deepEqual([device?.min, device?.name, device?.tags], ["+573001234567", hostile, { "a: b": "x\ny" }]);
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await dialog(page).getByRole("button", { name: "Delete" }).click();
    await page.getByText("There are no devices yet.").waitFor();
    assert.deepEqual(await list("/api/devices", "devices"), []);
  });

  it("a file is shown with each row's problem, and the good rows are added", async () => {
    const page = await open("/manage/import");
    const lines = ["ID;Name;Placa", "1001;Camión;=1+1", "1001;Twice;", ";No id;", "10 2;Blank;", "4,90154E+14;Round;"];
    const buffer = Buffer.from(lines.join("\r\n"), "latin1");
    await page.locator("input[type=file]").setInputFiles({ name: "fleet.csv", mimeType: "text/csv", buffer });
    const rows = page.locator("[role=listitem]");
    await rows.nth(4).waitFor();
    await rows.nth(0).getByText("Camión").waitFor();
    const problems = await rows.locator(".problem").allTextContents();
    assert.deepEqual(problems, [
      "The id stands above already.",
      "It has no id.",
      "id: It does not have the right form.",
      "A spreadsheet has rounded the identifier. Format its column as text.",
    ]);
    await page.getByRole("button", { name: "Add 1 device" }).click();
    await page.getByText("1 of 1, 0 failed").waitFor();
    const [device] = await list("/api/devices", "devices");
    assert.deepEqual([device?.name, device?.tags], ["Camión", { Placa: "=1+1" }]);
  });

  it("a file of 50,000 rows is read beside the page, and one that is no text is refused", async () => {
    const page = await open("/manage/import");
    const input = page.locator("input[type=file]");
    // Every tenth id is there twice, and names are of every kind: quoted, with lines, as formulas.
    const names = ['"Van; 1"', '"two\r\nlines"', "=HYPERLINK(1)", "Ñandú"];
    const line = (row: number) => `${2_000_000 + row - (row % 10 === 9 ? 1 : 0)};${names[row % 4]}\r\n`;
    const text = `\uFEFFid;name\r\n${Array.from({ length: 50_000 }, (_, row) => line(row)).join("")}`;
    await input.setInputFiles({ name: "large.csv", mimeType: "text/csv", buffer: Buffer.from(text, "utf16le") });
    await page.getByRole("button", { name: "Add 45,000 devices" }).waitFor();
    assert.ok((await page.locator("[role=listitem]").count()) < 100);
    assert.equal(await page.getByLabel("Encoding").inputValue(), "utf-16le");
    await page.getByLabel("Separator").selectOption("|");
    await page.getByText("The first line must name a column").waitFor();
    await page.getByLabel("Separator").selectOption(";");
    await page.getByLabel("Only the 5,000").check();
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save" }).click();
    const saved = await readFile(await (await coming).path(), "utf8");
    assert.match(saved, /^\uFEFFid,name,problem\r\n2000008,"two\r\nlines",/);
    assert.ok(!/(^|,)=/m.test(saved));
    await input.setInputFiles({ name: "book.csv", mimeType: "text/csv", buffer: Buffer.from("PK\u0003\u0004\0\0") });
    await page.getByText("This is no text file.").waitFor();
  });

  it("many devices are changed at once", async () => {
    for (const id of ["3001", "3002", "3003"]) await service.call("POST", "/api/devices", { id, name: `Bus ${id}` });
    await service.call("POST", "/api/groups", { name: "Buses", devices: ["3001"] });
    const page = await open("/manage/devices");
    await page.locator("main input[type=search]").fill("bus 300");
    await page.getByRole("button", { name: "Select all 3" }).click();
    await page.getByPlaceholder("Tag", { exact: true }).fill("line/7");
    await page.getByPlaceholder("Value").fill("=A1");
    await page.getByRole("button", { name: "Do it" }).click();
    await page.getByText("3 of 3, 0 failed").waitFor();
    await page.getByLabel("What to do").selectOption({ label: "Put into a group" });
    await page.getByLabel("Group", { exact: true }).selectOption({ label: "Buses" });
    await page.getByRole("button", { name: "Do it" }).click();
    await page.getByText("Saved").first().waitFor();
    const buses = (await list("/api/devices", "devices")).filter(({ id }) => String(id).startsWith("300"));
    assert.deepEqual(
      buses.map(({ tags }) => tags),
      Array(3).fill({ "line/7": "=A1" }),
    );
    assert.deepEqual((await list("/api/groups", "groups"))[0]?.devices, ["3001", "3002", "3003"]);
  });

  it("an unknown tracker is taken with one click", async () => {
    await fetch(`http://127.0.0.1:${service.devicePort}/?id=490154203237534&lat=4.7&lon=-74.1`);
    const page = await open("/manage/quarantine");
    await page.getByRole("button", { name: "Take it" }).click();
    await page.getByText("No unknown tracker has called.").waitFor();
    assert.ok((await list("/api/devices", "devices")).some(({ id }) => id === "490154203237534"));
  });

  it("a user is added with a password that signs in, and a key is shown once", async () => {
    const page = await open("/manage/users");
    await page.getByRole("button", { name: "Add a user" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).fill(hostile);
    await dialog(page).getByLabel("E-mail address").fill("bo@example.com");
    await dialog(page).getByLabel("Country").selectOption("CO");
    await dialog(page).getByLabel("Password", { exact: false }).first().fill("another long password");
    await dialog(page).locator("input[autocomplete=current-password]").fill(password);
    await dialog(page).getByRole("button", { name: "Save" }).click();
    const row = page.locator("tbody tr", { hasText: "bo@example.com" });
    await row.getByRole("button").click();
    await page.getByRole("menuitem", { name: "New API key" }).click();
    await dialog(page).locator("input").fill(password);
    await dialog(page).locator("button.main").click();
    const key = await dialog(page).locator("pre").textContent();
    await dialog(page).getByRole("button", { name: "I have kept it" }).click();
    await dialog(page).waitFor({ state: "detached" });
    const asked = { userName: "bo@example.com", apiKey: key };
    assert.equal(Object(await service.call("POST", "/api/Auth/Token", asked)).success, true);
    const signedIn = await service.call("POST", "/api/session", {
      ...{ email: "bo@example.com", password: "another long password" },
    });
    assert.equal(Object(signedIn).success, true);
  });

  it("a rule calls a webhook with a secret, and a session that ends in the middle of it loses nothing", async () => {
    const page = await open("/rules/new?device=3001");
    await page.getByLabel("Name", { exact: true }).fill(hostile);
    await page.getByLabel("Speed (km/h)").fill("80");
    await page.getByLabel("Always").uncheck();
    await page.getByLabel("Mon", { exact: true }).uncheck();
    await page.getByRole("button", { name: "Add a webhook or chat" }).click();
    await page.getByLabel("Address or chat").fill("https://example.com/hook");
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByLabel("Reading").fill("battery");
    await page.getByLabel("Comparison").selectOption({ label: "is under" });
    await page.getByLabel("Value", { exact: true }).fill("20");
    await page.getByRole("button", { name: "Add a command" }).click();
    await page.getByLabel("Command", { exact: true }).fill("RELAY,1#");
    await page.getByLabel("After (s)").fill("30");
    await page.getByRole("button", { name: "Add an e-mail address" }).click();
    await page.getByLabel("E-mail address").fill("ana@example.com");
    await page.getByLabel("Language").selectOption("es");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".problem", { hasText: "secret" }).waitFor();
    await page.getByLabel("Secret or token").fill("0123456789abcdef");
    // Ended elsewhere: the page hears of it by its stream, before anything is sent.
    const other = await openPage(browser, service.url);
    await signIn(other.page, service.email, "/me");
    await other.page.getByRole("button", { name: "Sign out everywhere" }).click();
    await dialog(other.page).getByRole("button", { name: "Sign out everywhere" }).click();
    const again = page.getByRole("dialog", { name: "Sign in again" });
    await again.locator("input[name=password]").fill(password);
    await again.locator("button.main").click();
    await again.waitFor({ state: "detached" });
    assert.equal(await page.getByLabel("Secret or token").inputValue(), "0123456789abcdef");
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("tbody tr", { hasText: "<img src=x" }).waitFor();
    const [rule] = await list("/api/alertRules", "rules");
    assert.deepEqual(Object(rule?.channels).webhook?.[0]?.url, "https://example.com/hook");
    assert.deepEqual(Object(rule?.channels).email?.[0]?.language, "es");
    assert.deepEqual(rule?.conditions, [{ attribute: "battery", operator: "less", value: 20 }]);
    assert.deepEqual(Object(rule).commands[0], {
      ...{ command: "RELAY,1#", format: "Text", sms: false, encode: true, delaySeconds: 30 },
    });
    assert.deepEqual(Object(rule?.schedule).days, ["tuesday", "wednesday", "thursday", "friday"]);
    await page.goto("/manage/webhooks");
    await page.getByText("https://example.com/hook").waitFor();
  });

  it("the operator's key opens the accounts, and a new owner's key is shown once", async () => {
    const { operatorKey } = JSON.parse(await readFile(join(service.directory, "credentials.json"), "utf8"));
    const page = await open("/manage/accounts");
    await page.getByLabel("Operator's key").fill("a wrong key, and long enough for one");
    await page.getByRole("button", { name: "Show the accounts" }).click();
    await page.locator("[role=alert]").waitFor();
    await page.getByLabel("Operator's key").fill(operatorKey);
    await page.getByRole("button", { name: "Show the accounts" }).click();
    await page.getByRole("button", { name: "Add an account" }).click();
    await dialog(page).getByLabel("Name", { exact: true }).first().fill("North");
    await dialog(page).getByLabel("Name", { exact: true }).last().fill("Ana");
    await dialog(page).getByLabel("E-mail address").fill("ana@north.example");
    await dialog(page).getByLabel("Country").selectOption("CO");
    await dialog(page).getByRole("button", { name: "Save" }).click();
    await dialog(page).locator("pre").waitFor();
    await dialog(page).getByRole("button", { name: "I have kept it" }).click();
    await page.locator("tbody tr", { hasText: "North" }).getByText("0 / 10").waitFor();
  });

  it("a second factor is begun with a code to scan, and its field has the focus when it is asked for", async () => {
    const page = await open("/me");
    const form = page.locator("form", { has: page.getByRole("button", { name: "Begin a second factor" }) });
    await form.locator("input").fill(password);
    await form.locator("button").click();
    await page.getByRole("img", { name: "Code to scan" }).waitFor();
    const secret = (await page.locator("pre").textContent()) ?? "";
    const step = Math.floor(Date.now() / 30_000);
    await page.getByLabel("Code", { exact: true }).fill(totp(secret, step));
    await page.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("You sign in with your password and a code.").waitFor();
    await page.context().clearCookies();
    await page.goto("/map");
    await page.fill("input[name=email]", service.email);
    await page.fill("input[name=password]", password);
    await page.locator("form button.main").click();
    await page.locator("input[name=code]:focus").waitFor();
    // A code is good once.
    await page.keyboard.type(totp(secret, step + 1));
    await page.keyboard.press("Enter");
    await page.locator("[data-live=true]").waitFor();
  });

  it("broke no rule of its policy, and threw nothing", () => {
    assert.deepEqual(
      opened.flatMap(({ problems }) => problems),
      [],
    );
  });
});
