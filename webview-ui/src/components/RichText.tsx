import type { ReactNode } from 'react';
import { titleOf } from './titles';

/** How VS Code writes a link to another setting. */
const SETTING = /^`#contextCondenser\.([^#]+)#`$/;

/** The little Markdown that descriptions of settings hold: `code`, **strong** and other settings. The rest stays as it is. */
export function RichText({ text }: { readonly text: string }): ReactNode {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece, index) => {
    const setting = SETTING.exec(piece)?.[1];
    if (setting !== undefined) return <strong key={index}>{titleOf(setting, {})}</strong>;
    if (piece.startsWith('`') && piece.endsWith('`') && piece.length > 2) {
      return <code key={index}>{piece.slice(1, -1)}</code>;
    }
    if (piece.startsWith('**') && piece.endsWith('**') && piece.length > 4) {
      return <strong key={index}>{piece.slice(2, -2)}</strong>;
    }
    return piece;
  });
}
