/** The measures of condensations on disk: one JSON line each, bounded, never sent anywhere. The user can see and clear it. */
import { Buffer } from 'node:buffer';
import { dirname } from 'node:path';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { ifThere, readText, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';

/** Measures that are kept, and how many more gather before the oldest are dropped. */
const KEPT = 2_000;
const SLACK = 500;

/** An object reads the file once; a new one sees what other windows wrote since. */
export class MetricsStore {
  private known: RunMetrics[] | undefined;

  /** @param path of the file. */
  constructor(
    private readonly path: string,
    private readonly files: Files = nodeFiles,
  ) {}

  /** All measures, oldest first. A line that can't be read is passed over: another version, or a crash, wrote it. */
  async read(): Promise<readonly RunMetrics[]> {
    this.known ??= parse((await readText(this.files, this.path)) ?? '');
    return this.known;
  }

  async add(run: RunMetrics): Promise<void> {
    const runs = [...(await this.read()), run];
    if (runs.length > KEPT + SLACK) {
      this.known = runs.slice(-KEPT);
      await this.replace(this.known);
      return;
    }
    await this.files.makeFolder(dirname(this.path));
    await this.write(this.path, 'append', [run]);
    this.known = runs;
  }

  async clear(): Promise<void> {
    this.known = [];
    await ifThere(this.files.removeFile(this.path));
  }

  private async replace(runs: readonly RunMetrics[]): Promise<void> {
    const temporary = `${this.path}.new`;
    await ifThere(this.files.removeFile(temporary));
    await this.write(temporary, 'create', runs);
    await this.files.rename(temporary, this.path);
  }

  private write(path: string, mode: 'append' | 'create', runs: readonly RunMetrics[]): Promise<void> {
    const lines = runs.map((run) => `${JSON.stringify(run)}\n`).join('');
    return withFile(this.files, path, mode, (file) => writeAll(file, Buffer.from(lines)));
  }
}

const parse = (text: string): RunMetrics[] =>
  text.split('\n').flatMap((line) => {
    try {
      const value = JSON.parse(line) as Partial<RunMetrics> | null;
      return typeof value?.at === 'string' && typeof value.provider === 'string' && Array.isArray(value.calls)
        ? [value as RunMetrics]
        : [];
    } catch {
      return [];
    }
  });
