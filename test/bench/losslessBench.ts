/**
 * Measures the share that Lossless removes for each agent, compared with the brute-force bound
 * (`repeatBound.ts`), in characters of messages and tool texts.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readConversationFile } from '../../src/conversations/readFile';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import type { ApiMessage } from '../../src/core/messages/types';
import { makeCandidate, condense, freshCounter, LOSSLESS, LOSSLESS_STRICT } from './measure';
import { providerPolicy } from './policies';
import { countChars, repeatBound } from './repeatBound';
import { measureRetention } from './retention';
import { percent, table } from './table';

const LOSSLESS_ACROSS_FILES = makeCandidate('across files', losslessProvider, { strictOnly: true, acrossFiles: true });

export interface LosslessRow {
  readonly agent: string;
  readonly project: string;
  readonly session: string;
  readonly chars: number;
  /** Number of characters removed. */
  readonly strict: number;
  readonly all: number;
  readonly acrossFiles: number;
  readonly bound: number;
  readonly boundAnywhere: number;
  /**
   * Number of lines that are quoted within 20 turns after three cuts, and how many remain after all
   * operations.
   */
  readonly needed: number;
  readonly kept: number;
}

/** Folders with a session folder for each agent; paths are relative to the project. */
const FOLDERS = ['../shared/corpus-wide', '../shared/corpus'];

export async function benchLossless(folders: readonly string[] = FOLDERS): Promise<LosslessRow[]> {
  const rows: LosslessRow[] = [];
  for (const folder of folders.filter((one) => existsSync(one))) {
    for (const { agent, path } of listSessions(folder)) rows.push(await measure(agent, path));
  }
  return rows;
}

/** Excludes the task lists of Roo and Cline. */
const SESSION_FILE_PATTERN = /\.jsonl$|(?<!ui_messages|task_metadata|\.compaction)\.json$/;

const listSessions = (folder: string): { agent: string; path: string }[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name: agent }) =>
      readdirSync(join(folder, agent), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && SESSION_FILE_PATTERN.test(entry.name))
        .map((entry) => ({ agent, path: join(entry.parentPath, entry.name) })),
    );

async function measure(agent: string, path: string): Promise<LosslessRow> {
  const { messages } = readConversationFile(path, { history: 'all' });
  const { chars, sameFile, anywhere } = repeatBound(messages);
  const countRemovedChars = async (way: typeof LOSSLESS): Promise<number> => {
    const { edits } = await condense(messages, way, freshCounter());
    return chars - countAllChars(applyEdits(messages, edits).messages);
  };
  const { lines } = await measureRetention([messages], providerPolicy(losslessProvider, {}, freshCounter()), {
    resamples: 1,
  });
  const session = basename(path);
  return {
    agent,
    project: session.includes('__')
      ? session.split('__').slice(0, 2).join('/')
      : path.split('/').slice(-3, -1).join('/'),
    session,
    chars,
    strict: await countRemovedChars(LOSSLESS_STRICT),
    all: await countRemovedChars(LOSSLESS),
    acrossFiles: await countRemovedChars(LOSSLESS_ACROSS_FILES),
    bound: sameFile,
    boundAnywhere: anywhere,
    needed: lines.needed,
    kept: lines.needed === 0 ? 0 : Math.round(lines.needed * lines.verbatim.share),
  };
}

const countAllChars = (messages: readonly ApiMessage[]): number =>
  messages.reduce((sum, message) => sum + countChars(message), 0);

/**
 * Shows one row per agent with shares of all characters, and the share of strict Lossless per
 * project.
 */
export function losslessTable(rows: readonly LosslessRow[]): string {
  const computeShare = (
    own: readonly LosslessRow[],
    part: keyof CharFigures,
    whole: keyof CharFigures = 'chars',
  ): number => own.reduce((sum, row) => sum + row[part], 0) / own.reduce((sum, row) => sum + row[whole], 0);
  return table(
    [
      '',
      'sessions',
      'projects',
      'K chars',
      'strict',
      'by project',
      'bound',
      'of the bound',
      'across files',
      'its bound',
      'all',
      'needed lines kept',
    ],
    [...Map.groupBy(rows, ({ agent }) => agent)].map(([agent, own]) => {
      const strictShareByProject = [...Map.groupBy(own, ({ project }) => project).values()].map((each) =>
        computeShare(each, 'strict'),
      );
      const mean = strictShareByProject.reduce((sum, share) => sum + share, 0) / strictShareByProject.length;
      return [
        agent,
        own.length,
        strictShareByProject.length,
        Math.round(own.reduce((sum, { chars }) => sum + chars, 0) / 1_000),
        percent(computeShare(own, 'strict')),
        `${percent(mean)} (${percent(Math.min(...strictShareByProject))} to ${percent(Math.max(...strictShareByProject))})`,
        percent(computeShare(own, 'bound')),
        percent(computeShare(own, 'strict', 'bound')),
        percent(computeShare(own, 'acrossFiles')),
        percent(computeShare(own, 'boundAnywhere')),
        percent(computeShare(own, 'all')),
        `${own.reduce((sum, { kept }) => sum + kept, 0)} of ${own.reduce((sum, { needed }) => sum + needed, 0)}`,
      ];
    }),
  );
}

type CharFigures = Pick<LosslessRow, 'chars' | 'strict' | 'all' | 'acrossFiles' | 'bound' | 'boundAnywhere'>;
