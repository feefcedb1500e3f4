/** Metrics are bounded and never sent anywhere. The user can view and delete them. */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { readText, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { OWN_FILE_KINDS, refuseForeign, removeOwnFile, replaceOwnFile } from './ownFiles';

/** The file is trimmed to `MAX_RUNS` when it exceeds both together. */
const MAX_RUNS = 2_000;
const MAX_EXCESS_RUNS = 500;

interface ParsedMetrics {
  readonly runs: readonly RunMetrics[];
  /** Includes lines of other versions. */
  readonly lines: number;
  /** True if a crash left an incomplete last line. */
  readonly isTorn: boolean;
}

const parseKnownLines = (text: string): ParsedMetrics => {
  const lines = splitLines(text);
  return { runs: lines.flatMap(parseRun), lines: lines.length, isTorn: text !== '' && !text.endsWith('\n') };
};

/** Reads the file once, so only a new instance sees other windows' lines. */
export class MetricsStore {
  private known: ParsedMetrics | undefined;

  constructor(
    private readonly path: string,
    private readonly files: Files = nodeFiles,
  ) {}

  /** Oldest first. Skips unreadable lines of other versions or crashes. */
  async readRuns(): Promise<readonly RunMetrics[]> {
    return (await this.loadRuns()).runs;
  }

  async addRun(run: RunMetrics): Promise<void> {
    const { runs, lines, isTorn } = await this.loadRuns();
    await refuseForeign(this.files, this.path, OWN_FILE_KINDS.metrics);
    await this.files.makeFolder(dirname(this.path));
    await this.appendText(`${isTorn ? '\n' : ''}${JSON.stringify(run)}\n`);
    this.known = { runs: [...runs, run], lines: lines + 1, isTorn: false };
    if (lines + 1 > MAX_RUNS + MAX_EXCESS_RUNS) await this.trimFile();
  }

  async clear(): Promise<void> {
    this.known = parseKnownLines('');
    await removeOwnFile(this.files, this.path, OWN_FILE_KINDS.metrics);
  }

  private async loadRuns(): Promise<ParsedMetrics> {
    return (this.known ??= parseKnownLines((await readText(this.files, this.path)) ?? ''));
  }

  /** Keeps the newest lines, even those that this version can't read. */
  private async trimFile(): Promise<void> {
    const kept = splitLines((await readText(this.files, this.path)) ?? '').slice(-MAX_RUNS);
    const text = kept.map((line) => `${line}\n`).join('');
    await replaceOwnFile(this.files, this.path, text, OWN_FILE_KINDS.metrics);
    this.known = parseKnownLines(text);
  }

  private appendText(text: string): Promise<void> {
    return withFile(this.files, this.path, 'append', (file) => writeAll(file, Buffer.from(text)));
  }
}

const splitLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

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
