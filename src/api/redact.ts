import { maskSecrets, SECRET_MASK } from '../core/secrets/maskSecrets';

/**
 * Shorter values are not removed, because they are placeholders such as "ollama", which must stay
 * readable.
 */
const MIN_SECRET_CHARS = 8;

/** Removes the given secrets in all encodings, and anything that looks like a key. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const secretForms = secrets
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      Buffer.from(secret).toString('base64'),
    ])
    .sort((a, b) => b.length - a.length);
  const redactedText = secretForms.reduce((rest, form) => rest.replaceAll(form, SECRET_MASK), text);
  return maskSecrets(redactedText);
}
