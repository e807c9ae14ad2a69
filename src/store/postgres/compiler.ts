import { ColumnDefinitionNode, type DataTypeNode, PostgresQueryCompiler } from "kysely";

/**
 * Kysely's compiler, but every text column is compared by its bytes, as in the embedded store: the order of lists must
 * not depend on the database's collation.
 */
export class BytewiseCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    if (isColumn && node.dataType === "text") this.append(' collate "C"');
  }
}
