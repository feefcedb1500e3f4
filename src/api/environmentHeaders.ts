import { env } from 'node:process';

/**
 * The SDKs add headers from the environment (`ANTHROPIC_CUSTOM_HEADERS`, `OPENAI_CUSTOM_HEADERS`)
 * that are meant for other endpoints; a `null` header is not sent.
 */
export function withoutEnvironmentHeaders(
  variable: string,
  ownHeaders: Readonly<Record<string, string | null>>,
): Record<string, string | null> {
  const names = (env[variable] ?? '')
    .split('\n')
    .filter((line) => line.includes(':'))
    .map((line) => line.slice(0, line.indexOf(':')).trim());
  return { ...Object.fromEntries(names.map((name) => [name, null])), ...ownHeaders };
}
