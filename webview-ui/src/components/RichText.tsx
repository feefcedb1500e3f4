import type { ReactNode } from 'react';

/** The little Markdown that descriptions of settings hold: `code` and **strong**. Everything else stays as it is. */
export function RichText({ text }: { readonly text: string }): ReactNode {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece, index) => {
    if (piece.startsWith('`') && piece.endsWith('`') && piece.length > 2) {
      return <code key={index}>{piece.slice(1, -1)}</code>;
    }
    if (piece.startsWith('**') && piece.endsWith('**') && piece.length > 4) {
      return <strong key={index}>{piece.slice(2, -2)}</strong>;
    }
    return piece;
  });
}
