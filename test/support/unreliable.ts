import { StoreUnavailable } from "../../src/ports/store.ts";
import { Background } from "../../src/store/locations/background.ts";
import { WorkerLink } from "../../src/store/workers/worker-link.ts";

type Way = "not asked" | "answer lost" | "worker dies";
const ways: readonly Way[] = ["not asked", "answer lost", "worker dies"];

/** Lets calls to the store's workers fail by chance. Call `end` to stop that. `failed`: how often each call failed. */
export function unreliable(random: () => number, chances: Readonly<Record<string, number>>) {
  const { call } = WorkerLink.prototype;
  const { pause } = Background.prototype;
  // The service tries again after a second. Here that would be most of the test's time.
  Background.prototype.pause = function (this: Background, ms) {
    return Reflect.apply(pause, this, [ms / 100]);
  };
  const failed = new Map<string, number>();
  WorkerLink.prototype.call = async function (this: WorkerLink<never>, ...given: Parameters<typeof call>) {
    const [name] = given;
    if (random() >= (chances[name] ?? 0)) return Reflect.apply(call, this, given);
    const way = ways[Math.floor(random() * ways.length)];
    const what = `${name}: ${way}`;
    failed.set(what, (failed.get(what) ?? 0) + 1);
    if (way === "not asked") throw new StoreUnavailable(what);
    const answer = Reflect.apply(call, this, given);
    if (way === "worker dies") await this.terminate();
    await answer;
    throw new StoreUnavailable(what);
  } as typeof call;
  return {
    failed,
    end() {
      WorkerLink.prototype.call = call;
      Background.prototype.pause = pause;
    },
  };
}
