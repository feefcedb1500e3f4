/**
 * Measures reading of real sessions: which files are read or rejected, which kinds are unknown, and
 * how close the fill levels are to recorded ones.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { loadFillLevelReader } from '../../src/account/fillLevel';
import { ConversationReadError } from '../../src/conversations/readError';
import { readConversationFile } from '../../src/conversations/readFile';
import { listSessions } from '../../src/conversations/formats/openCode/database';
import { formatLocation } from '../../src/conversations/location';
import { countPromptTokens } from '../../src/core/cost/usage';
import { freshCounter } from './measure';
import { percent, table } from './table';
import { getNoteText } from '../../src/conversations/notes';

const FOLDERS = ['../shared/corpus', '../shared/corpus-2', '../shared/corpus-wide'];

interface FormatReading {
  read: number;
  recorded: number;
  /** Relative errors of the fill level, compared with the last recorded request and its answer. */
  readonly differences: number[];
}

export interface ReadingFigures {
  readonly formats: ReadonlyMap<string, FormatReading>;
  /** Rejected files, with the reason. */
  readonly refused: readonly string[];
  /** Unknown kinds, with their files. */
  readonly unknown: readonly string[];
  /** Sessions whose error is above 5 %. */
  readonly deviating: readonly string[];
}

/** Reads all sessions as the agent would send them next. */
export async function benchReading(): Promise<ReadingFigures> {
  const getFill = await loadFillLevelReader();
  const counter = freshCounter();
  const formats = new Map<string, FormatReading>();
  const refusedFiles: string[] = [];
  const unknown: string[] = [];
  const deviatingSessions: string[] = [];
  for (const { name, location } of FOLDERS.flatMap(listSessionLocations)) {
    try {
      const conversation = readConversationFile(location);
      const { format, lastRequest, notes } = conversation;
      const formatFigures = formats.get(format) ?? { read: 0, recorded: 0, differences: [] };
      formats.set(format, formatFigures);
      formatFigures.read += 1;
      unknown.push(
        ...notes
          .map(getNoteText)
          .filter((note) => note.includes('does not know'))
          .map((note) => `${name}: ${note}`),
      );
      if (!lastRequest?.usage) continue;
      formatFigures.recorded += 1;
      const fill = getFill(conversation, counter);
      const recordedTokens = countPromptTokens(lastRequest.usage) + lastRequest.usage.outputTokens;
      const difference = (fill.tokens - recordedTokens) / recordedTokens;
      formatFigures.differences.push(difference);
      if (Math.abs(difference) > 0.05) {
        const basisText = fill.isRecorded
          ? `${lastRequest.messagesSince ?? 0} messages since`
          : 'compacted since: our count';
        deviatingSessions.push(`${name}: ${fill.tokens} for ${recordedTokens} (${percent(difference)}), ${basisText}`);
      }
    } catch (error) {
      if (!(error instanceof ConversationReadError)) throw error;
      refusedFiles.push(`${name}: ${error.reason}`);
    }
  }
  return { formats, refused: refusedFiles, unknown, deviating: deviatingSessions };
}

/** Lists all files that may be sessions, and all sessions in databases. */
function listSessionLocations(folder: string): { readonly name: string; readonly location: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:jsonl?|jsonl\.zst|db|traj)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/(?:manifest|index|package|tsconfig)\.json$/.test(file))
    .flatMap((file) => {
      const name = relative('../shared', file);
      if (!file.endsWith('.db')) return [{ name, location: file }];
      try {
        return listSessions(file).map(({ id }) => ({ name: `${name}#${id}`, location: formatLocation(file, id) }));
      } catch {
        return [{ name, location: file }];
      }
    });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

export const readingTable = ({ formats, refused, unknown, deviating }: ReadingFigures): string =>
  [
    table(
      ['format', 'read', 'size recorded', 'median difference', 'above 5 %'],
      [...formats].map(([format, { read, recorded, differences }]) => [
        format,
        read,
        recorded,
        percent(median(differences)),
        differences.filter((difference) => Math.abs(difference) > 0.05).length,
      ]),
    ),
    `refused: ${refused.length}`,
    ...refused,
    `with kinds that are not known: ${unknown.length}`,
    ...unknown,
    `fill level apart by more than 5 %: ${deviating.length}`,
    ...deviating,
  ].join('\n');
