export function extractBetween(text: string, open: string, close: string): string | undefined {
  const start = text.indexOf(open);
  const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
  return end === -1 ? undefined : text.slice(start + open.length, end);
}
