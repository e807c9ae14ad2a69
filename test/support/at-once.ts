/** The result of work in steps, which is done without a pause. */
export function atOnce<T>(work: Iterator<undefined, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}
