import { configPage } from "../../src/config/index.ts";
import { type Generator, generatedMark } from "./generator.ts";

/** Every setting, with its variable, default and bounds. */
export const configDoc: Generator = {
  file: "docs/generated/config.md",
  render: () => `${generatedMark}\n${configPage()}`,
};
