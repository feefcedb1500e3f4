/**
 * Finds names and paths from before a cut that the agent uses in tool parameters in its next turns.
 */
import type { View } from '../../src/core/condense/edits/view';
import type { NeededLineChecker, LineOutcome } from '../../src/core/condense/futureNeed/kept';
import { groupCallsByTurn } from '../../src/core/condense/futureNeed/neededLater';
import { isRecord } from '../../src/core/messages/blocks';
import { listContents } from '../../src/core/messages/content';
import { findIdentifierNames } from '../../src/core/messages/names';
import type { ApiMessage } from '../../src/core/messages/types';

export interface NeededNames {
  readonly names: readonly string[];
  readonly paths: readonly string[];
}

/** A rare name occurs in at most this share of the prefix's contents. */
const MAX_RARE_SHARE = 0.1;

/**
 * @param cut index of the first message after the prefix, which is the assistant's
 * @param end index after the last message to examine
 */
export function findNeededNames(messages: readonly ApiMessage[], cut: number, end: number): NeededNames {
  const knownParts = collectKnownParts(messages.slice(0, cut));
  const shownParts = { names: new Set<string>(), paths: new Set<string>() };
  const neededParts = { names: new Set<string>(), paths: new Set<string>() };
  const calls = groupCallsByTurn(messages, cut, end);
  for (let index = cut; index < end; index++) {
    const message = messages[index];
    if (message?.role === 'user') addShownParts(shownParts, message);
    for (const call of calls.get(index) ?? []) {
      const text = collectStrings(call.input).join('\n');
      for (const name of findIdentifierNames(text))
        if (knownParts.rareNames.has(name) && !shownParts.names.has(name)) neededParts.names.add(name);
      for (const path of findPaths(text))
        if (knownParts.paths.has(path) && !shownParts.paths.has(path)) neededParts.paths.add(path);
    }
  }
  return { names: [...neededParts.names], paths: [...neededParts.paths] };
}

/** Tells whether a view keeps the names and paths of its original. */
export class KeptNames {
  private readonly viewText: string;
  private readonly viewNames: ReadonlySet<string>;
  private readonly recallableText: string;
  private readonly recallableNames: ReadonlySet<string>;

  constructor({ messages }: View, { blocks }: NeededLineChecker) {
    this.viewText = messages.flatMap((message) => listContents(message).map(({ text }) => text)).join('\n');
    this.viewNames = findIdentifierNames(this.viewText);
    this.recallableText = [...blocks.values()]
      .flatMap(({ cuts = [] }) => cuts.filter(({ isReferenced }) => isReferenced).map(({ text }) => text))
      .join('\n');
    this.recallableNames = findIdentifierNames(this.recallableText);
  }

  name(name: string): LineOutcome {
    if (this.viewNames.has(name)) return 'verbatim';
    return this.recallableNames.has(name) ? 'recallable' : 'lost';
  }

  path(path: string): LineOutcome {
    if (this.viewText.includes(path)) return 'verbatim';
    return this.recallableText.includes(path) ? 'recallable' : 'lost';
  }
}

interface KnownParts {
  readonly rareNames: ReadonlySet<string>;
  readonly paths: ReadonlySet<string>;
}

function collectKnownParts(prefix: readonly ApiMessage[]): KnownParts {
  const paths = new Set<string>();
  const contentCountByName = new Map<string, number>();
  let contentCount = 0;
  for (const { text } of prefix.flatMap(listContents)) {
    contentCount++;
    for (const path of findPaths(text)) paths.add(path);
    for (const name of findIdentifierNames(text)) contentCountByName.set(name, (contentCountByName.get(name) ?? 0) + 1);
  }
  const rareNames = new Set(
    [...contentCountByName].filter(([, count]) => count / contentCount < MAX_RARE_SHARE).map(([name]) => name),
  );
  return { rareNames, paths };
}

/**
 * Adds the names and paths in a user's message, because only these messages show the agent anything
 * new.
 */
function addShownParts(shown: { names: Set<string>; paths: Set<string> }, message: ApiMessage): void {
  for (const { text } of listContents(message)) {
    for (const name of findIdentifierNames(text)) shown.names.add(name);
    for (const path of findPaths(text)) shown.paths.add(path);
  }
}

function collectStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectStrings);
  return isRecord(value) ? Object.values(value).flatMap(collectStrings) : [];
}

const PATH_PATTERN = /(?:[\w.@~-]+)?(?:[\\/][\w.@-]+)+\.\w{1,8}\b/g;

const findPaths = (text: string): Set<string> => new Set(text.match(PATH_PATTERN) ?? []);
