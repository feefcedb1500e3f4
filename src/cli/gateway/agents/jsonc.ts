/**
 * Parses JSON with comments and trailing commas.
 * @throws SyntaxError
 */
export function parseJsonc(text: string): unknown {
  // Matches strings first, so that comment-like text in them is kept.
  const plain = text.replace(/"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : ' ',
  );
  return JSON.parse(plain.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[\]}])/g, (part) => (part.startsWith('"') ? part : '')));
}
