import { type BucketsHeir, bucketCount, type Processes } from "../../ports/processes.ts";

/** The process that has a data folder: it follows every device, and there is nobody to tell anything. */
export class Alone implements Processes {
  readonly name = "one";
  readonly others = [];
  heir: BucketsHeir | undefined;

  follows(): boolean {
    return true;
  }

  tell(): void {}

  onTold(): void {}

  onOthers(): void {}

  async start(): Promise<void> {
    this.heir?.gained([...Array(bucketCount).keys()]);
  }

  async stop(): Promise<void> {}
}
