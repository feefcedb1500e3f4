/** JSON with comments and commas at the end, as agents' settings files may have. @throws SyntaxError */
export function jsonc(text: string): unknown {
  // Strings are taken whole, so that what looks like a comment in one stays.
  const plain = text.replace(/"(?:[^"\\]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) =>
    part.startsWith('"') ? part : ' ',
  );
  return JSON.parse(plain.replace(/"(?:[^"\\]|\\[^])*"|,(?=\s*[\]}])/g, (part) => (part.startsWith('"') ? part : '')));
}
