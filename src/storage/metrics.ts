/**
 * Metrics of condensations: one JSON line each, bounded, never sent anywhere. The user can view and
 * delete them.
 */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { readText, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { OWN, refuseForeign, removeOwn, replaceOwn } from './ownFiles';

/** Lines kept, and additional lines allowed before trimming. */
const KEPT = 2_000;
const SLACK = 500;

/** State of the file as last read. */
interface KnownLines {
  readonly runs: readonly RunMetrics[];
  /** Includes lines of other versions. */
  readonly lines: number;
  /** A crash left an incomplete last line. */
  readonly isTorn: boolean;
}

const parseKnown = (text: string): KnownLines => {
  const lines = splitLines(text);
  return { runs: lines.flatMap(parse), lines: lines.length, isTorn: text !== '' && !text.endsWith('\n') };
};

/** Reads the file once per instance; a new instance sees other windows' lines. */
export class MetricsStore {
  private known: KnownLines | undefined;

  /** @param path of the file. */
  constructor(
    private readonly path: string,
    private readonly files: Files = nodeFiles,
  ) {}

  /** Oldest first. Skips unreadable lines of other versions or crashes. */
  async read(): Promise<readonly RunMetrics[]> {
    return (await this.load()).runs;
  }

  async add(run: RunMetrics): Promise<void> {
    const { runs, lines, isTorn } = await this.load();
    await refuseForeign(this.files, this.path, OWN.metrics);
    await this.files.makeFolder(dirname(this.path));
    await this.append(`${isTorn ? '\n' : ''}${JSON.stringify(run)}\n`);
    this.known = { runs: [...runs, run], lines: lines + 1, isTorn: false };
    if (lines + 1 > KEPT + SLACK) await this.trim();
  }

  async clear(): Promise<void> {
    this.known = parseKnown('');
    await removeOwn(this.files, this.path, OWN.metrics);
  }

  private async load(): Promise<KnownLines> {
    return (this.known ??= parseKnown((await readText(this.files, this.path)) ?? ''));
  }

  /** Keeps the newest lines unchanged, including those this version can't read. */
  private async trim(): Promise<void> {
    const kept = splitLines((await readText(this.files, this.path)) ?? '').slice(-KEPT);
    const text = kept.map((line) => `${line}\n`).join('');
    await replaceOwn(this.files, this.path, text, OWN.metrics);
    this.known = parseKnown(text);
  }

  private append(text: string): Promise<void> {
    return withFile(this.files, this.path, 'append', (file) => writeAll(file, Buffer.from(text)));
  }
}

const splitLines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function parse(line: string): RunMetrics[] {
  try {
    const value = JSON.parse(line) as Partial<RunMetrics> | null;
    return typeof value?.at === 'string' && typeof value.provider === 'string' && Array.isArray(value.calls)
      ? [value as RunMetrics]
      : [];
  } catch {
    return [];
  }
}
