import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { dataFolder, type Service, startService } from "./service.ts";

const root = join(import.meta.dirname, "../..");
const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The password of the owner in every test. */
export const password = "correct horse battery staple";

/** Where a browser is; undefined: nowhere. */
export function browserProgram(): string | undefined {
  return [process.env.CHROMIUM ?? "", ...programs].find((program) => program !== "" && existsSync(program));
}

/** Why browser tests are skipped; false: they are not. */
export const noBrowser = browserProgram() === undefined && "no Chromium is installed (apt-get install chromium)";

/** Starts the browser. It draws in software: a machine of tests has no graphics processor. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserProgram() ?? "",
    args: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"],
  });
}

/** A running service with the console, and its owner. */
export interface ConsoleService extends Service {
  readonly email: string;
  /** The owner's API key, for calls that ask for it. */
  readonly apiKey: string;
  /** Where the owner sets the first password; good while there is none. */
  readonly firstPath: string;
  /** Calls the API as the owner. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** A tracker reports: `speed` in km/h. */
  report(id: string, place: { readonly lat: number; readonly lon: number; readonly speed?: number }): Promise<void>;
}

/**
 * Builds the console where it is older than its sources, and starts the service. `hasPassword`: the owner can sign in.
 */
export async function startConsole({ hasPassword = true } = {}): Promise<ConsoleService> {
  execFileSync(process.execPath, [join(root, "scripts/console/build.ts"), "--if-older"], { stdio: "ignore" });
  const directory = dataFolder();
  const service = await startService(directory);
  const { userName, apiKey, firstToken } = JSON.parse(await readFile(join(directory, "credentials.json"), "utf8"));
  const authorization = `Bearer ${service.token}`;

  async function call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  }

  const { users } = Object(await call("GET", "/api/users"));
  if (hasPassword)
    await call("PATCH", `/api/users/${users[0].id}`, [
      { op: "add", path: "/password", value: password },
      { op: "add", path: "/presentSecret", value: apiKey },
    ]);
  return {
    ...service,
    email: userName,
    apiKey,
    firstPath: `/first#${firstToken}`,
    call,
    async report(id, { lat, lon, speed = 0 }) {
      // OsmAnd gives speeds in knots.
      const query = new URLSearchParams({ id, lat: String(lat), lon: String(lon), speed: String(speed / 1.852) });
      const response = await fetch(`http://127.0.0.1:${service.devicePort}/?${query}`);
      if (!response.ok) throw new Error(`the report is answered with ${response.status}`);
    },
  };
}

/** How a page is opened. */
export interface PageOptions {
  readonly locale?: string;
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
}

/** A page of a person of its own; `problems` gathers violations of the policy, and errors. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly problems: string[];
}

/** Opens a page that is not signed in. */
export async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<OpenPage> {
  const { locale = "en-GB", theme = "light", width = 1280, height = 800 } = options;
  const context = await browser.newContext({
    ...{ baseURL: url, locale, colorScheme: theme, viewport: { width, height }, timezoneId: "America/Bogota" },
  });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error.stack ?? error)));
  page.on("console", (message) => {
    if (message.text().startsWith("policy:")) problems.push(message.text());
  });
  await page.addInitScript(`addEventListener("securitypolicyviolation", (event) =>
    console.log("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sourceFile))`);
  page.setDefaultTimeout(60_000);
  return { page, context, problems };
}

/** Signs in, and waits for the page. */
export async function signIn(page: Page, email: string, path = "/map"): Promise<void> {
  await page.goto(path);
  await page.fill("input[name=email]", email);
  await page.fill("input[name=password]", password);
  await page.locator("form button.main").click();
  await page.locator("header nav").waitFor();
}
