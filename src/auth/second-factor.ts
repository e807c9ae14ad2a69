import { ApiError } from "../errors/catalogue.ts";
import type { User } from "../model/account.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";
import type { Store } from "../ports/store.ts";
import { hashRecoveryCode, makeRecoveryCodes, makeTotpSecret, plainCode, stepOf, totpUri } from "./totp.ts";

/** Second factors of users: an authenticator that makes codes, and recovery codes. */
export interface SecondFactors {
  /** Whether the user is asked for a code. */
  has(userKey: number): Promise<boolean>;
  /** Whether a code is good for a user, who then has used it; always, where it has no second factor. */
  takes(userKey: number, code: string | null | undefined): Promise<"taken" | "needed" | "wrong">;
  /** Makes one, which counts once it is confirmed. @throws ApiError `secondFactorSet` */
  begin(user: User): Promise<{ readonly secret: string; readonly uri: string }>;
  /**
   * Confirms it by a code, and gives the recovery codes. @throws ApiError `noSecondFactor`, `secondFactorSet`,
   * `wrongCode`
   */
  confirm(user: User, code: string): Promise<readonly string[]>;
  /** @throws ApiError `noSecondFactor` */
  end(userKey: number): Promise<void>;
}

/** What they need of the service. */
export interface SecondFactorsContext {
  readonly store: Pick<Store, "secondFactors">;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What an authenticator shows beside the user's e-mail address. */
const issuer = "Waybeam";

/** The second factors over their store. */
export function createSecondFactors({ store, clock, ids }: SecondFactorsContext): SecondFactors {
  const factors = store.secondFactors;

  return {
    has: async (userKey) => (await factors.find(userKey))?.confirmed === true,
    async takes(userKey, typed) {
      const factor = await factors.find(userKey);
      if (factor?.confirmed !== true) return "taken";
      const code = plainCode(typed ?? "");
      if (code === "") return "needed";
      const step = stepOf(factor.secret, code, clock.now());
      const used =
        step === undefined
          ? await factors.useRecovery(userKey, hashRecoveryCode(code))
          : await factors.useStep(userKey, step);
      return used ? "taken" : "wrong";
    },
    async begin({ key, email }) {
      const secret = makeTotpSecret(ids);
      if (!(await factors.begin(key, secret))) throw new ApiError("secondFactorSet");
      return { secret, uri: totpUri(secret, issuer, email) };
    },
    async confirm({ key }, typed) {
      const factor = await factors.find(key);
      if (factor === undefined) throw new ApiError("noSecondFactor");
      if (factor.confirmed) throw new ApiError("secondFactorSet");
      const step = stepOf(factor.secret, plainCode(typed), clock.now());
      if (step === undefined) throw new ApiError("wrongCode");
      const { codes, hashes } = makeRecoveryCodes(ids);
      // Begun again, or confirmed, by another browser meanwhile.
      if (!(await factors.confirm(key, factor.secret, step, hashes))) throw new ApiError("wrongCode");
      return codes;
    },
    async end(userKey) {
      if (!(await factors.remove(userKey))) throw new ApiError("noSecondFactor");
    },
  };
}
