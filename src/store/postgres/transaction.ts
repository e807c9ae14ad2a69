import { again } from "./again.ts";
import { hasMetAnother, rolledBack } from "./errors.ts";
import { statements } from "./statements.ts";
import type { Step } from "./wire/messages.ts";
import { type Result, type Session, step } from "./wire/session.ts";

/** What work in a transaction calls: `begin` first, and `commit` or `rollback` last. */
export interface Transaction {
  begin(...steps: Step[]): Promise<readonly Result[]>;
  /** Runs the steps and commits. The transaction has ended when this resolves. */
  commit(...steps: Step[]): Promise<readonly Result[]>;
  rollback(): Promise<void>;
}

/** Runs `work` in a transaction, and again from its beginning after a conflict with other transactions. If the connection breaks, the transaction may be committed, or be so later. */
export function inTransaction<T>(session: Session, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return again(() => once(session, work), hasMetAnother);
}

async function once<T>(session: Session, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const transaction: Transaction = {
    begin: async (...steps) => (await session.run(step(statements.begin), ...steps)).slice(1),
    commit: async (...steps) => {
      const results = await session.run(...steps, step(statements.commit));
      if (results.at(-1)?.tag !== "COMMIT") throw rolledBack();
      return results.slice(0, -1);
    },
    rollback: async () => {
      await session.run(step(statements.rollback));
    },
  };
  try {
    return await work(transaction);
  } catch (error) {
    // After a failure the transaction is still open. If it can't be rolled back, it ends with its connection.
    await transaction.rollback().catch(() => session.destroy("a transaction could not be ended"));
    throw error;
  }
}
