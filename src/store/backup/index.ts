export { giveWay } from "../sqlite/workers/priority.ts";
export { makeBackup } from "./backup.ts";
export { check } from "./check.ts";
export type { Manifest } from "./manifest.ts";
export { BackupRefused } from "./refused.ts";
export { restore } from "./restore.ts";
