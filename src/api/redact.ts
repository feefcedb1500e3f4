/** What keys look like: Anthropic, OpenAI and OpenRouter (`sk-…`, also masked with stars), AWS, Google, bearer tokens, PEM. */
const KEY_SHAPES: readonly RegExp[] = [
  /\bsk-[\w*.-]{6,}/g,
  /\b(?:AKIA|ASIA|ABIA)[A-Z0-9]{12,}/g,
  /\bya29\.[\w.-]+/g,
  /\bAIza[\w-]{20,}/g,
  /\bBearer\s+[\w.~+/=-]{8,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

const MASK = '[key]';

/** Shorter ones are placeholders such as "ollama", whose words must stay readable. */
const SECRET_FROM_CHARS = 8;

/** The text without these secrets, in any of the ways in which they go over the wire, and without what looks like a key. */
export function redact(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter((secret) => secret.length >= SECRET_FROM_CHARS)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
    ])
    .sort((a, b) => b.length - a.length);
  const known = forms.reduce((rest, form) => rest.replaceAll(form, MASK), text);
  return KEY_SHAPES.reduce((rest, shape) => rest.replace(shape, MASK), known);
}
