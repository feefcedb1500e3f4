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
const RARE = 0.1;

/**
 * @param cut index of the first message after the prefix, which is the assistant's
 * @param end index after the last message to examine
 */
export function findNeededNames(messages: readonly ApiMessage[], cut: number, end: number): NeededNames {
  const known = collectKnownParts(messages.slice(0, cut));
  const shown = { names: new Set<string>(), paths: new Set<string>() };
  const needed = { names: new Set<string>(), paths: new Set<string>() };
  const calls = groupCallsByTurn(messages, cut, end);
  for (let index = cut; index < end; index++) {
    const message = messages[index];
    if (message?.role === 'user') addShown(shown, message);
    for (const call of calls.get(index) ?? []) {
      const text = collectStrings(call.input).join('\n');
      for (const name of findIdentifierNames(text))
        if (known.rareNames.has(name) && !shown.names.has(name)) needed.names.add(name);
      for (const path of findPaths(text)) if (known.paths.has(path) && !shown.paths.has(path)) needed.paths.add(path);
    }
  }
  return { names: [...needed.names], paths: [...needed.paths] };
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
  const frequency = new Map<string, number>();
  let documents = 0;
  for (const { text } of prefix.flatMap(listContents)) {
    documents++;
    for (const path of findPaths(text)) paths.add(path);
    for (const name of findIdentifierNames(text)) frequency.set(name, (frequency.get(name) ?? 0) + 1);
  }
  const rareNames = new Set([...frequency].filter(([, count]) => count / documents < RARE).map(([name]) => name));
  return { rareNames, paths };
}

/** Adds what a user's message shows, because only these show the agent anything new. */
function addShown(shown: { names: Set<string>; paths: Set<string> }, message: ApiMessage): void {
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

const PATH = /(?:[\w.@~-]+)?(?:[\\/][\w.@-]+)+\.\w{1,8}\b/g;

const findPaths = (text: string): Set<string> => new Set(text.match(PATH) ?? []);
