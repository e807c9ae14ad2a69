import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { atEnd } from "../../test/support/at-end.ts";
import { dataFolder, removeFolder } from "../../test/support/service.ts";
import { missing, run } from "./machine.ts";

/** Attempts to unmount, a tenth of a second apart. */
const mostTries = 50;

/** A disk whose power can be cut: a file system in a file, which then loses what it has not written. */
export class CutDisk {
  readonly #folder = dataFolder();
  readonly #image = join(this.#folder, "image");
  readonly mounted = join(this.#folder, "disk");
  #isMounted = false;
  #forget = () => {};

  constructor(bytes: number) {
    // The server's own user must be able to enter.
    chmodSync(this.#folder, 0o755);
    mkdirSync(this.mounted);
    run("truncate", "-s", String(bytes), this.#image);
    run("mkfs.ext4", "-q", this.#image);
    this.mount();
  }

  mount(): void {
    run("mount", "-o", "loop", this.#image, this.mounted);
    this.#isMounted = true;
    this.#forget = atEnd(() => void run("umount", this.mounted));
  }

  /** Waits for a program that is just ending and still has a file of it open. */
  unmount(): void {
    for (let tries = 0; this.#isMounted; tries++)
      try {
        run("umount", this.mounted);
        this.#isMounted = false;
      } catch (error) {
        if (tries === mostTries) throw error;
        run("sleep", "0.1");
      }
    this.#forget();
  }

  /** From now on nothing is written, neither what the kernel still holds nor the journal. */
  cut(): void {
    // FS_IOC_SHUTDOWN with NOLOGFLUSH, the kernel's fs/ext4/ioctl.c. Node.js has no call for it.
    const script =
      'open(my $disk, "<", $ARGV[0]) or die $!; my $flags = pack("L", 2); ioctl($disk, 0x8004587D, $flags) or die $!';
    run("perl", "-e", script, this.mounted);
  }

  close(): void {
    this.unmount();
    removeFolder(this.#folder);
  }
}

/** Why no such disk can be made; undefined: it can. */
export function noCut(): string | undefined {
  const none = missing("perl", "perl-base") ?? missing("mount", "mount");
  if (none !== undefined) return none;
  try {
    const disk = new CutDisk(16 * 1024 * 1024);
    try {
      disk.cut();
    } finally {
      disk.close();
    }
    return undefined;
  } catch {
    return "needs the right to mount a file as a disk and to shut it down (root), and mkfs.ext4 (Debian package e2fsprogs)";
  }
}
