/** Words for thrown values: anything can be thrown. */

/** Its message, for a person or a log. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's name of what went wrong, such as `ENOENT`; undefined where it has none. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
