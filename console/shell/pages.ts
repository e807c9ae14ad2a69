/**
 * Every page of the console and its path. The build writes the paths down, and the service answers these with the page.
 */
export const pages = {
  home: "/",
  map: "/map",
  device: "/device/:id",
  deviceTab: "/device/:id/:tab",
  alerts: "/alerts",
  zones: "/zones",
  zone: "/zones/:id",
  rules: "/rules",
  rule: "/rules/:id",
  manage: "/manage",
  manageTab: "/manage/:tab",
  me: "/me",
  signIn: "/sign-in",
  first: "/first",
  shared: "/s",
} as const;

/** Name of a page. */
export type PageName = keyof typeof pages;
