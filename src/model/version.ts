import packageFile from "../../package.json" with { type: "json" };

/** The version of the program, of the API's document, and the newest of CHANGELOG.md. */
export const version: string = packageFile.version;
