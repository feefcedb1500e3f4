/** HTML that is safe by construction: the template escapes all values that aren't SafeHtml. */
export class SafeHtml {
  constructor(readonly text: string) {}
}

type HtmlPart = SafeHtml | string | number | readonly SafeHtml[];

export function renderHtml(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): SafeHtml {
  return new SafeHtml(
    strings.map((string, at) => string + (at < parts.length ? renderHtmlPart(parts[at] ?? '') : '')).join(''),
  );
}

function renderHtmlPart(part: HtmlPart): string {
  if (part instanceof SafeHtml) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(({ text }) => text).join('');
}

const ENTITY_BY_CHAR: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/**
 * Replaces control characters that HTML doesn't allow, and line ends by `\n`. A `\r` at the end is
 * dropped, because the next piece of a text that was split there begins with `\n`.
 */
const escapeHtml = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[&<>"']/g, (character) => ENTITY_BY_CHAR[character] ?? '')
    .replace(/\r$/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '\ufffd');
