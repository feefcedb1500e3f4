/** Message for display or logs. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Errors whose messages quote their input: parsers' and JavaScript's own ("Cannot create property
 * 'a' on string '…'").
 */
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

/** Describes an error for logs without content: the system's code, or our own words. */
export function errorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return errorCode(error) ?? (QUOTING.has(error.name) ? error.name : error.message);
}

/** The system's error code, such as `ENOENT`. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
