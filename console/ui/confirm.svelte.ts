/** What a person is asked before something is destroyed. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the button says that does it. */
  readonly act: string;
}

let asked = $state.raw<Question & { readonly answer: (yes: boolean) => void }>();

/** The question that is open. */
export function question(): Question | undefined {
  return asked;
}

/** Asks; true: the person wants it. */
export function confirmed(wanted: Question): Promise<boolean> {
  asked?.answer(false);
  return new Promise((answer) => {
    asked = { ...wanted, answer };
  });
}

/** Answers the open question. */
export function answerQuestion(yes: boolean): void {
  asked?.answer(yes);
  asked = undefined;
}
