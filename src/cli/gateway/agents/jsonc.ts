/**
 * Accepts comments and trailing commas.
 * @throws SyntaxError
 */
export function parseJsonc(text: string): unknown {
  // Match strings first, to keep comment-like text in them.
  const withoutComments = text.replace(/"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : ' ',
  );
  return JSON.parse(
    withoutComments.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[\]}])/g, (part) => (part.startsWith('"') ? part : '')),
  );
}
