/** What looks like a key or a password in a text. False alarms cost a word; a key that goes to a stranger costs more. */
const KEYS: readonly RegExp[] = [
  // Anthropic, OpenAI, OpenRouter; Stripe
  /\b(?:sk|rk|pk)[-_](?:[\w*.-]{16,})/g,
  /\b(?:AKIA|ASIA|ABIA)[A-Z0-9]{12,}/g,
  /\bya29\.[\w.-]{16,}/g,
  /\bAIza[\w-]{20,}/g,
  // GitHub, GitLab, npm, Hugging Face, Slack
  /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{20,}|hf_\w{20,}|xox[abeoprs]-[\w-]{10,})/g,
  // A JSON Web Token; its first part is bounded, for every "eyJ" of a long text may begin one
  /\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,}\.[\w-]*/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
];

/** `Authorization: Bearer …`; the word before it stays. */
const BEARER = /\b(Bearer|Basic)\s+[\w.~+/=-]{12,}/gi;
/** `password=…`, `"api_key": "…"`, `AWS_SECRET_ACCESS_KEY=…`: the name stays, the value goes. */
const ASSIGNED =
  /((?:password|passwd|secret|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?token|access[_-]?token|[a-z]{2,20}_token(?!s)|private[_-]?key)[\w-]{0,20}["']?\s{0,3}[:=]\s{0,3})(["']?)([^\s"',;)}]{8,})\2/gi;
/** `postgres://user:password@host`: the password goes. */
const IN_URL = /\b([a-z][a-z+.-]{1,20}:\/\/[^\s:/@]{1,100}:)[^\s@/]{1,200}@/gi;

const SECRET_MASK = '[key]';

/** Code assigns names and calls, not keys: `password = getPassword()`, `apiKey: string`, `secret=${SECRET}`. */
const looksLikeCode = (value: string): boolean => /[(${<[]/.test(value) || !/\d/.test(value);

/** The text with `[key]` in place of what looks like a secret. */
export function maskSecrets(text: string): string {
  const masked = KEYS.reduce((rest, key) => rest.replace(key, SECRET_MASK), text);
  return masked
    .replace(BEARER, `$1 ${SECRET_MASK}`)
    .replace(IN_URL, `$1${SECRET_MASK}@`)
    .replace(ASSIGNED, (whole, name: string, quote: string, value: string) =>
      looksLikeCode(value) ? whole : `${name}${quote}${SECRET_MASK}${quote}`,
    );
}
