/** Where a value comes from: `default`, the variable's name, or the file's name. */
export type Source = string;

/** One thing that is wrong with the configuration. */
export interface Problem {
  readonly key: string;
  readonly from: Source;
  readonly wrong: string;
  readonly right: string;
}

/** The problems as lines for people, one each. */
export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(({ key, from, wrong, right }) => `${key} (from ${from}): ${wrong}; ${right}\n`).join("");
}
