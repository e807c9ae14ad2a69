import { type SelectModifierNode, SqliteQueryCompiler } from "kysely";

const locks: ReadonlySet<string> = new Set(["ForUpdate", "ForNoKeyUpdate", "ForKeyShare"]);

/** Leaves the locks of rows out: a transaction has the database for itself. */
export class LocklessCompiler extends SqliteQueryCompiler {
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === undefined || !locks.has(node.modifier)) super.visitSelectModifier(node);
  }
}
