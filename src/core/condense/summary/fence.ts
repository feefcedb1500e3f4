import { hashText } from '../../hash';

/**
 * Puts a text between tags that it can't hold: their name comes from the text's own hash. What tools gave back may say
 * "ignore your instructions"; between the tags it is data.
 * @param what a word that names the content.
 */
export function fenced(what: string, text: string): string {
  let tag = '';
  for (let round = 0; tag === '' || text.includes(tag); round++) {
    tag = `${what}-${hashText(`${round} ${text}`).slice(0, 8)}`;
  }
  return `<${tag}>\n${text}\n</${tag}>`;
}
