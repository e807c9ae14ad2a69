import { ColumnDefinitionNode, type DataTypeNode, PostgresQueryCompiler } from "kysely";

/** As Kysely's, but every column of text is compared by its bytes, as in the embedded store: what order lists have must not depend on how a database was made. */
export class BytewiseCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    if (isColumn && node.dataType === "text") this.append(' collate "C"');
  }
}
