/**
 * How often a costly property is tried: `all` times in `npm run test:rest`, which sets TEST_RUNS to `all`, and a tenth
 * of that in `npm test`.
 */
export const runs = (all: number): number => (process.env.TEST_RUNS === "all" ? all : Math.ceil(all / 10));

/** Which of `count` cases are tried: all in `npm run test:rest`, every seventh in `npm test`. */
export const triedOf = (count: number): readonly number[] => {
  const step = process.env.TEST_RUNS === "all" ? 1 : 7;
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
};
