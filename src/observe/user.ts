/** The user that the process runs as; undefined where the system has no numbers for users. */
export const systemUser: number | undefined = process.getuid?.();
