/**
 * Metrics of condensations. Their number is limited, they are never sent anywhere, and the user can
 * view and delete them.
 */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { readTextIfPresent, withOpenFile, writeAllBytes } from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { OWN_FILE_KINDS, rejectForeignFile, removeOwnFile, replaceOwnFile } from './ownFiles';

/**
 * If the file has more runs than both numbers together, only the newest `MAX_STORED_RUNS` are kept.
 */
const MAX_STORED_RUNS = 2_000;
const MAX_EXCESS_RUNS = 500;

interface ParsedMetrics {
  readonly runs: readonly RunMetrics[];
  /** Number of lines, including those of other versions. */
  readonly lines: number;
  /** True if a crash left an incomplete last line. */
  readonly isTorn: boolean;
}

const parseMetricsFile = (text: string): ParsedMetrics => {
  const lines = splitNonEmptyLines(text);
  return { runs: lines.flatMap(parseRun), lines: lines.length, isTorn: text !== '' && !text.endsWith('\n') };
};

/** Reads the file once, so lines that other windows add later are only seen by a new instance. */
export class MetricsStore {
  private parsed: ParsedMetrics | undefined;

  constructor(
    private readonly path: string,
    private readonly files: Files = nodeFiles,
  ) {}

  /** Oldest first. Leaves out lines that can't be read, of other versions or after crashes. */
  async readRuns(): Promise<readonly RunMetrics[]> {
    return (await this.loadRuns()).runs;
  }

  async addRun(run: RunMetrics): Promise<void> {
    const { runs, lines, isTorn } = await this.loadRuns();
    await rejectForeignFile(this.files, this.path, OWN_FILE_KINDS.metrics);
    await this.files.makeFolder(dirname(this.path));
    await this.appendText(`${isTorn ? '\n' : ''}${JSON.stringify(run)}\n`);
    this.parsed = { runs: [...runs, run], lines: lines + 1, isTorn: false };
    if (lines + 1 > MAX_STORED_RUNS + MAX_EXCESS_RUNS) await this.trimFile();
  }

  async removeAllRuns(): Promise<void> {
    this.parsed = parseMetricsFile('');
    await removeOwnFile(this.files, this.path, OWN_FILE_KINDS.metrics);
  }

  private async loadRuns(): Promise<ParsedMetrics> {
    return (this.parsed ??= parseMetricsFile((await readTextIfPresent(this.files, this.path)) ?? ''));
  }

  /** Keeps the newest lines, also those that this version can't read. */
  private async trimFile(): Promise<void> {
    const newestLines = splitNonEmptyLines((await readTextIfPresent(this.files, this.path)) ?? '').slice(
      -MAX_STORED_RUNS,
    );
    const text = newestLines.map((line) => `${line}\n`).join('');
    await replaceOwnFile(this.files, this.path, text, OWN_FILE_KINDS.metrics);
    this.parsed = parseMetricsFile(text);
  }

  private appendText(text: string): Promise<void> {
    return withOpenFile(this.files, this.path, 'append', (file) => writeAllBytes(file, Buffer.from(text)));
  }
}

const splitNonEmptyLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function parseRun(line: string): RunMetrics[] {
  try {
    const value = JSON.parse(line) as Partial<RunMetrics> | null;
    return typeof value?.at === 'string' && typeof value.provider === 'string' && Array.isArray(value.calls)
      ? [value as RunMetrics]
      : [];
  } catch {
    return [];
  }
}
