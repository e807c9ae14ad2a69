/** A reason why a database can't be used, and what to do about it. */
export interface DatabaseProblem {
  readonly wrong: string;
  readonly advice: string;
}

/** The database can't be used as it is. Nothing was changed. */
export class DatabaseUnusable extends Error {
  override readonly name: string = "DatabaseUnusable";
  readonly problems: readonly DatabaseProblem[];

  constructor(problems: readonly DatabaseProblem[], options?: ErrorOptions) {
    super(problems.map(({ wrong, advice }) => `${wrong}. ${advice}`).join("\n"), options);
    this.problems = problems;
  }
}

/** Another service uses the database. */
export class DatabaseInUse extends DatabaseUnusable {
  override readonly name = "DatabaseInUse";
}
