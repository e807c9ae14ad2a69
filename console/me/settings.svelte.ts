import type { UnitSystem } from "../words/units.ts";

/** What a person chooses for this browser. */
export interface Settings {
  readonly language: "en" | "es";
  readonly units: UnitSystem;
  /** IANA name; "": the browser's. */
  readonly timeZone: string;
  readonly theme: "system" | "light" | "dark";
  /** Whether single letters are keys (WCAG 2.1.4). */
  readonly letterKeys: boolean;
}

const place = "waybeam.settings";
const first: Settings = {
  language: navigator.language.startsWith("es") ? "es" : "en",
  units: /-(US|LR|MM)$/.test(navigator.language) ? "us" : "metric",
  timeZone: "",
  theme: "system",
  letterKeys: true,
};

let settings = $state.raw<Settings>({ ...first, ...stored() });

function stored(): Partial<Settings> {
  try {
    return Object(JSON.parse(localStorage.getItem(place) ?? "{}"));
  } catch {
    return {};
  }
}

/** One of the person's settings. */
export function setting<K extends keyof Settings>(name: K): Settings[K] {
  return settings[name];
}

/** The zone that the person reads times in. */
export function zoneOfPerson(): string {
  return settings.timeZone || Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Changes settings, and keeps them in this browser. */
export function choose(changed: Partial<Settings>): void {
  settings = { ...settings, ...changed };
  showTheme();
  try {
    localStorage.setItem(place, JSON.stringify(settings));
  } catch {
    // A browser that keeps nothing still shows what was chosen.
  }
}

/** Shows the page in the chosen theme. */
export function showTheme(): void {
  document.documentElement.dataset.theme = settings.theme;
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  if (settings.theme !== "system") return settings.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
