import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atEnd } from "./at-end.ts";

/**
 * Makes a file system of some megabytes, which goes at the end of the test file. Undefined where that can't be had:
 * only root can.
 */
export function smallDisk(megabytes: number): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "waybeam-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=1777`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return undefined;
  }
  atEnd(() => {
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
}

/** Why tests that need one are skipped. */
export const noSmallDisk = "needs root to make a small file system";

/** Fills what is left of a disk by a file. Gives the file's name. */
export function fill(folder: string): string {
  const file = join(folder, "filler");
  const opened = openSync(file, "w");
  const piece = Buffer.alloc(4096);
  try {
    for (;;) writeSync(opened, piece);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(opened);
  }
  return file;
}
