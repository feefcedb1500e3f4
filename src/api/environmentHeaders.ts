import { env } from 'node:process';

/**
 * Removes headers that the SDKs read from the environment (`ANTHROPIC_CUSTOM_HEADERS`,
 * `OPENAI_CUSTOM_HEADERS`) and that are meant for other endpoints: a `null` header is not sent.
 */
export function withoutEnvironmentHeaders(
  variable: string,
  own: Readonly<Record<string, string | null>>,
): Record<string, string | null> {
  const names = (env[variable] ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim());
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...own };
}
