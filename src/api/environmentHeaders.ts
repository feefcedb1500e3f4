import { env } from 'node:process';

/**
 * The SDKs add headers from the environment (`ANTHROPIC_CUSTOM_HEADERS`, `OPENAI_CUSTOM_HEADERS`), which are meant for
 * another endpoint than the profile's. These headers take them back; `null` removes a header in both SDKs.
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
