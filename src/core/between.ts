export function extractBetween(text: string, opening: string, closing: string): string | undefined {
  const start = text.indexOf(opening);
  const end = start === -1 ? -1 : text.indexOf(closing, start + opening.length);
  return end === -1 ? undefined : text.slice(start + opening.length, end);
}
