import type { IdentityRule } from "../model/knock.ts";
import { addressGroup, contains, parseAddress } from "../model/network.ts";
import type { Admission, Admitted, Guard } from "../ports/intake.ts";
import type { KnockedDevice } from "../ports/quarantine.ts";
import type { AnyProtocol, Transport } from "../wire/protocol.ts";
import type { ProtocolCounters } from "./counters.ts";
import type { Shared } from "./shared.ts";

/** Who says that it is a device. */
export interface Claim {
  readonly ids: readonly string[];
  /** The password or key that it brought. */
  readonly secret: string | undefined;
  readonly protocol: AnyProtocol;
  readonly transport: Transport;
  /** Without its port. */
  readonly address: string;
}

/** What is decided of it: it is the device, or is turned away. */
export type Verdict =
  | Admitted
  | { readonly status: "unknown" | "limited" }
  | { readonly status: "expired"; readonly device: KnockedDevice }
  | { readonly status: "barred"; readonly device: KnockedDevice; readonly rule: IdentityRule };

const limited: Verdict = Object.freeze({ status: "limited" });

/**
 * Whether a claim holds. A device that is remembered and may come so is let in at once. All others are asked for, with
 * the same work whatever the answer is, so that its time does not tell which devices there are; and only so often from
 * one address.
 */
export function judge(shared: Shared, claim: Claim): Verdict | Promise<Verdict> {
  const { deps, knocks, tick } = shared;
  const { address, ids } = claim;
  const remembered = deps.intake.recall(ids);
  if (remembered !== undefined && brokenRule(remembered.guard, claim, shared) === undefined) return remembered;
  const allowed = knocks.allows(address, tick);
  if (!allowed && !(knocks.allowsKnown(address, tick) && cameFromThere(shared, claim))) return limited;
  const judged = (admission: Admission) => {
    const verdict = verdictOf(shared, claim, admission);
    if (verdict.status === "admitted") return verdict;
    knocks.wrong(address, shared.tick);
    return allowed ? verdict : limited;
  };
  const answer = deps.intake.ask(ids);
  return answer instanceof Promise ? answer.then(judged) : judged(answer);
}

/**
 * Whether a device that has one of these as its id was last let in from this address: strangers behind the same address
 * keep it out of nothing.
 */
function cameFromThere({ registry }: Shared, { ids, address }: Claim): boolean {
  const group = addressGroup(address);
  return ids.some((id) => {
    const last = registry.lastAddress(id);
    return last !== undefined && addressGroup(last) === group;
  });
}

/**
 * The same for who was let in before, and is asked for again since its device may have changed: no attempt, so not
 * limited.
 */
export function judgeAgain(shared: Shared, claim: Claim): Verdict | Promise<Verdict> {
  const admission = shared.deps.intake.admit(claim.ids);
  if (!(admission instanceof Promise)) return verdictOf(shared, claim, admission);
  return admission.then((answer) => verdictOf(shared, claim, answer));
}

/** Counts who was turned away, and remembers it for those who may see it. */
export function recordTurned(
  { deps }: Shared,
  counters: ProtocolCounters,
  { ids, address, protocol, transport }: Claim,
  verdict: Exclude<Verdict, Admitted>,
): void {
  deps.log.debug({ protocol: protocol.id, address, ids, status: verdict.status }, "refused");
  const cause = verdict.status === "barred" ? verdict.rule : verdict.status;
  counters.turned[cause].add(1);
  if (cause === "unknown") counters.quarantined.add(1);
  if (cause === "limited") return;
  const device = "device" in verdict ? verdict.device : undefined;
  deps.quarantine.add({ cause, ids, protocol: protocol.id, transport, address, device });
}

function verdictOf(shared: Shared, claim: Claim, admission: Admission): Verdict {
  if (admission.status === "unknown") return { status: "unknown" };
  const device = { id: admission.id, accountKey: admission.accountKey };
  if (admission.status === "expired") return { status: "expired", device };
  const rule = brokenRule(admission.guard, claim, shared);
  return rule === undefined ? admission : { status: "barred", device, rule };
}

/**
 * What of the device's rules the claim does not keep. A protocol that carries no secret can't be told from a
 * stranger's, so a device with one may not speak it.
 */
function brokenRule(guard: Guard | undefined, claim: Claim, { deps }: Shared): IdentityRule | undefined {
  if (guard === undefined) return undefined;
  const { protocol, secret } = claim;
  if (guard.protocols !== undefined && !guard.protocols.has(protocol.id)) return "protocol";
  if (guard.networks !== undefined) {
    const address = parseAddress(claim.address);
    if (address === undefined || !guard.networks.some((network) => contains(network, address))) return "network";
  }
  if (guard.secretHash === undefined) return undefined;
  const right = protocol.secret !== undefined && deps.matchesSecret(secret ?? "", guard.secretHash);
  return right ? undefined : "secret";
}
