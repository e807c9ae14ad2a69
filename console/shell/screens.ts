import type { Component } from "svelte";
import type { Place } from "./router.ts";

type Screen = () => Promise<{ readonly default: Component }>;

const map: Screen = () => import("../map/MapPage.svelte");
const device: Screen = () => import("../device/DevicePage.svelte");
const manage: Screen = () => import("../manage/ManagePage.svelte");
const zones: Screen = () => import("../zones/ZonesPage.svelte");
const rules: Screen = () => import("../rules/RulesPage.svelte");
const unknown: Screen = () => import("./Unknown.svelte");

/** What shows each page; each comes in a file of its own when it is first asked for. */
export const screens: Readonly<Record<Place["page"], Screen>> = {
  home: map,
  map,
  device,
  deviceTab: device,
  alerts: () => import("../alerts/AlertsPage.svelte"),
  zones,
  zone: zones,
  rules,
  rule: rules,
  manage,
  manageTab: manage,
  me: () => import("../me/MePage.svelte"),
  signIn: unknown,
  first: unknown,
  shared: () => import("../share/SharedPage.svelte"),
  unknown,
};
