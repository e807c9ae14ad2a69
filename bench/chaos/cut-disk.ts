import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { atEnd } from "../../test/support/at-end.ts";
import { dataFolder, removeFolder } from "../../test/support/service.ts";
import { missing, run } from "./machine.ts";

/** A disk whose power can be cut: a file system in a file, which then loses what it has not written. */
export class CutDisk {
  readonly #folder = dataFolder();
  readonly #image = join(this.#folder, "image");
  readonly mounted = join(this.#folder, "disk");
  #forget = () => {};

  constructor(bytes: number) {
    // The server's own user must come through.
    chmodSync(this.#folder, 0o755);
    mkdirSync(this.mounted);
    run("truncate", "-s", String(bytes), this.#image);
    run("mkfs.ext4", "-q", this.#image);
    this.mount();
  }

  mount(): void {
    run("mount", "-o", "loop", this.#image, this.mounted);
    this.#forget = atEnd(() => void run("umount", this.mounted));
  }

  unmount(): void {
    run("umount", this.mounted);
    this.#forget();
  }

  /** From now on nothing is written, neither what the kernel still holds nor the journal. */
  cut(): void {
    // FS_IOC_SHUTDOWN with NOLOGFLUSH, linux/fs.h and ext4(5). Node.js has no call for it.
    const ask =
      'open(my $disk, "<", $ARGV[0]) or die $!; my $flags = pack("L", 2); ioctl($disk, 0x8004587D, $flags) or die $!';
    run("perl", "-e", ask, this.mounted);
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
    new CutDisk(16 * 1024 * 1024).close();
    return undefined;
  } catch {
    return "needs the right to mount a file as a disk (root), and mkfs.ext4 (Debian package e2fsprogs)";
  }
}
