import type { Alert } from "../model/alert.ts";
import type { AlertRuleFields } from "../model/alert-rule.ts";
import type { WatchedDevice } from "./alert-engine.ts";

/** A step of a trial: something that would have been found, or how far it has come. */
export type TrialStep =
  | { readonly type: "alert"; readonly alert: Alert }
  /** Records looked at so far, and the event time of the last of them. */
  | { readonly type: "progress"; readonly records: number; readonly time: number };

/** What a rule would do, without there being one. */
export interface AlertTrial {
  /**
   * Runs a rule over a device's history, both ends inclusive, epoch ms: what it would have raised, and what would have
   * been over, had all come in order. Reads in pieces of bounded size, with a progress after each. Nobody is told,
   * nothing is stored. The rule must be one that its checks let pass.
   */
  run(
    fields: AlertRuleFields,
    device: WatchedDevice,
    range: { readonly from: number; readonly to: number },
  ): AsyncIterable<TrialStep>;
}
