/**
 * Accepts comments and trailing commas.
 * @throws SyntaxError
 */
export function parseJsonc(text: string): unknown {
  // Match strings first, to keep comment-like text in them.
  const plain = text.replace(/"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : ' ',
  );
  return JSON.parse(plain.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[\]}])/g, (part) => (part.startsWith('"') ? part : '')));
}
