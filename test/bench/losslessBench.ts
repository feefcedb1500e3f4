/**
 * What Lossless takes out of each agent's sessions, beside the bound that brute force finds (`repeatBound.ts`): characters of
 * tools' and messages' text, whole histories.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { groupBy } from '../../src/conversations/groupBy';
import { readConversationFile } from '../../src/conversations/readFile';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import type { ApiMessage } from '../../src/core/messages/types';
import { candidate, condense, freshCounter, LOSSLESS, LOSSLESS_STRICT } from './measure';
import { charsOf, repeatBound } from './repeatBound';
import { percent, table } from './table';

const ACROSS = candidate('across files', losslessProvider, { strictOnly: true, acrossFiles: true });

export interface LosslessRow {
  readonly agent: string;
  readonly project: string;
  readonly session: string;
  readonly chars: number;
  /** Characters that each way takes out. */
  readonly strict: number;
  readonly all: number;
  readonly acrossFiles: number;
  readonly bound: number;
  readonly boundAnywhere: number;
}

/** Folders of sessions by agent, from the project's root. */
const FOLDERS = ['../shared/corpus-wide', '../shared/corpus'];

export async function benchLossless(folders: readonly string[] = FOLDERS): Promise<LosslessRow[]> {
  const rows: LosslessRow[] = [];
  for (const folder of folders.filter((one) => existsSync(one))) {
    for (const { agent, path } of sessionsIn(folder)) rows.push(await measure(agent, path));
  }
  return rows;
}

const WANTED = /(?:\.jsonl?|api_conversation_history\.json|\.messages\.json)$/;

const sessionsIn = (folder: string): { agent: string; path: string }[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: agent }) =>
      readdirSync(join(folder, agent), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && WANTED.test(entry.name))
        .map((entry) => ({ agent, path: join(entry.parentPath, entry.name) })),
    );

async function measure(agent: string, path: string): Promise<LosslessRow> {
  const { messages } = readConversationFile(path, { history: 'all' });
  const { chars, sameFile, anywhere } = repeatBound(messages);
  const removed = async (way: typeof LOSSLESS): Promise<number> => {
    const { edits } = await condense(messages, way, freshCounter());
    return chars - charsIn(applyEdits(messages, edits).messages);
  };
  const session = basename(path);
  return {
    agent,
    project: session.includes('__')
      ? session.split('__').slice(0, 2).join('/')
      : path.split('/').slice(-3, -1).join('/'),
    session,
    chars,
    strict: await removed(LOSSLESS_STRICT),
    all: await removed(LOSSLESS),
    acrossFiles: await removed(ACROSS),
    bound: sameFile,
    boundAnywhere: anywhere,
  };
}

const charsIn = (messages: readonly ApiMessage[]): number =>
  messages.reduce((sum, message) => sum + charsOf(message), 0);

export function losslessTable(rows: readonly LosslessRow[]): string {
  const shares = (agent: string, own: readonly LosslessRow[]): string[] => {
    const sum = (of: (row: LosslessRow) => number): number => own.reduce((total, row) => total + of(row), 0);
    const chars = sum((row) => row.chars);
    const strict = sum((row) => row.strict);
    return [
      agent,
      String(own.length),
      String(Math.round(chars / 1000)),
      percent(strict / chars),
      percent(sum((row) => row.bound) / chars),
      percent(strict / sum((row) => row.bound)),
      percent(sum((row) => row.acrossFiles) / chars),
      percent(sum((row) => row.boundAnywhere) / chars),
      percent(sum((row) => row.all) / chars),
    ];
  };
  return table(
    ['', 'sessions', 'K chars', 'strict', 'bound', 'of bound', 'across files', 'its bound', 'all'],
    [...groupBy(rows, ({ agent }) => agent)].map(([agent, own]) => shares(agent, own)),
  );
}
