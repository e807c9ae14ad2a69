import type { AlertHistory } from "../ports/alerts.ts";

/** The alerts of a service without an alert engine: there are none. The engine's own history takes its place. */
export const noAlerts: AlertHistory = {
  async *alerts() {},
};
