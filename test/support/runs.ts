/**
 * How often a costly property is tried: `all` times in `npm run test:rest`, which sets TEST_RUNS to `all`, and a tenth
 * of that in `npm test`.
 */
export const runs = (all: number): number => (process.env.TEST_RUNS === "all" ? all : Math.ceil(all / 10));
