/** The envelope of a failure with this text, without what may stand beside it. */
export const failed = (error: string) => ({ success: false, error });

/** The part of an answer that says whether it failed, and with what text. */
export const part = ({ json }: { json: { success: boolean; error: string | null } }) => ({
  success: json.success,
  error: json.error,
});
