/**
 * Masks what looks like a key or a password. Everything that leaves for another vendor, a file or a log passes here, whole: a key
 * that was cut in two before looks like none. A false alarm costs a word; a key that goes to a stranger costs more.
 */
import { BODIES, KEY_FORMS, SHAPES } from './keyForms';
import { namedSecrets } from './namedSecrets';
import { privateKeys } from './privateKeys';
import type { Slice } from '../slice';

export const SECRET_MASK = '[key]';

const escaped = (literal: string): string => literal.replace(/[$.*+?()[\]{}|\\^/-]/g, '\\$&');

/** A key begins where no word goes on before it; in JSON inside a string an escaped end of line may stand there. */
const BEGINS = '(?:(?<![A-Za-z0-9_])|(?<=\\\\[nrt]))';

const FORMS = KEY_FORMS.map(({ starts, body, min, needsDigit = false }) => ({
  starts,
  needsDigit,
  shape: new RegExp(`${BEGINS}(?:${starts.map(escaped).join('|')})[${BODIES[body]}]{${min},}`, 'g'),
}));

/** Three parts, the first of which is JSON: `eyJ` is `{"` in Base64. A run is looked at once, wherever in it a token begins. */
const JWT = /eyJ[\w-]{8,}\.(?:eyJ)?[\w-]{8,}(?:\.[\w-]*){0,3}/y;
const DOTTED_RUN = /(?<![\w-])[\w-]{8,}(?:\.[\w-]+){1,6}\.?/g;

/** The text with `[key]` in place of what looks like a secret. Linear in its length. */
export function maskSecrets(text: string): string {
  let masked = withoutSlices(text, privateKeys(text));
  for (const { starts, needsDigit, shape } of FORMS) {
    if (!starts.some((start) => masked.includes(start))) continue;
    masked = masked.replace(shape, (key) => (needsDigit && !/\d/.test(key) ? key : SECRET_MASK));
  }
  for (const { shape } of SHAPES) masked = masked.replace(shape, SECRET_MASK);
  if (masked.includes('eyJ')) masked = masked.replace(DOTTED_RUN, withoutWebToken);
  return withoutSlices(masked, namedSecrets(masked));
}

/** A run of letters, digits and dots without the JSON Web Token that it holds. */
function withoutWebToken(run: string): string {
  const start = run.indexOf('eyJ');
  if (start < 0) return run;
  JWT.lastIndex = start;
  const token = JWT.exec(run);
  return token ? run.slice(0, token.index) + SECRET_MASK + run.slice(token.index + token[0].length) : run;
}

function withoutSlices(text: string, slices: readonly Slice[]): string {
  if (slices.length === 0) return text;
  const kept: string[] = [];
  let reached = 0;
  for (const { start, end } of slices) {
    if (start < reached) continue;
    kept.push(text.slice(reached, start), SECRET_MASK);
    reached = end;
  }
  kept.push(text.slice(reached));
  return kept.join('');
}
