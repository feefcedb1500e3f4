import type { ApiMessage, Place } from '../../messages/types';
import type { CutInfo, CutRequest } from './cutRequest';
import type { Cut } from '../edits/edits';
import { SHORTEST_REFERENCE } from '../../messages/markers';

/** Cuts that saved too little, by message: a conversation that grows is asked the same again and again. */
const refused = new WeakMap<ApiMessage, Set<string>>();

/** A wish by what it asks for; undefined where it asks for much, which is not remembered. */
export const wishKey = (place: Place, requests: readonly CutRequest[], { strict }: CutInfo): string | undefined =>
  requests.length > MAX_REMEMBERED ? undefined : JSON.stringify([place.path, strict, requests]);
const MAX_REMEMBERED = 4;

/** Remembers that a wish saved too little in this message; one that asks for much is not remembered. */
export function refuse(message: ApiMessage, wish: string | undefined): void {
  if (wish === undefined) return;
  const wishes = refused.get(message);
  if (wishes) wishes.add(wish);
  else refused.set(message, new Set([wish]));
}

/** Whether the same wish saved too little in this very message before. */
export const wasRefused = (message: ApiMessage, wish: string | undefined): boolean =>
  wish !== undefined && refused.get(message)?.has(wish) === true;

/** Whether the same wish can't save more another time: a longer reference saves less. */
export const hasShortReferences = (cuts: readonly Cut[]): boolean =>
  cuts.every(({ reference }) => reference === undefined || reference.length === SHORTEST_REFERENCE);
