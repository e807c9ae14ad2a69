export { type DescribedSetting, describeConfig } from "./describe.ts";
export { type ConfigInput, type LoadedConfig, loadConfig } from "./load.ts";
export { describeProblems, type Problem, type Source } from "./problem.ts";
export { type Config, otherVariables } from "./schema.ts";
export { secretFile } from "./secret-file.ts";
export { type Setting, settings } from "./settings.ts";
