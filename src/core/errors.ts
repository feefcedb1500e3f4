/** Words for thrown values: anything can be thrown. */

/** Its message, for a person or a log. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Errors whose words quote what they were given: those of parsers, and of JavaScript itself ("Cannot create property 'a' on string '…'"). */
const QUOTING = new Set([
  'SyntaxError',
  'TypeError',
  'RangeError',
  'URIError',
  'ZodError',
  '$ZodError',
  'JsonPathError',
  'WireError',
]);

/** What a log that holds no content may say of an error: the system's name of it, or our own words, which quote nothing. */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return errorCode(error) ?? (QUOTING.has(error.name) ? error.name : error.message);
}

/** The system's name of what went wrong, such as `ENOENT`; undefined where it has none. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
