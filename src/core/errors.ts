export const getErrorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Errors whose messages quote their input: parsers' and JavaScript's own ("Cannot create property
 * 'a' on string '…'").
 */
const QUOTING_ERROR_NAMES = new Set([
  'SyntaxError',
  'TypeError',
  'RangeError',
  'URIError',
  'ZodError',
  '$ZodError',
  'JsonPathError',
  'WireError',
]);

/**
 * Describes an error for logs without quoting any content: by the system's error code, the error's
 * name, or our own message.
 */
export function getErrorKind(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return getErrorCode(error) ?? (QUOTING_ERROR_NAMES.has(error.name) ? error.name : error.message);
}

export const getErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
