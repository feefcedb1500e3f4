import { codeFile, codeLines, type Language } from './codeFiles';
import type { Random } from './random';
import { noun } from './vocabulary';
import { Workspace } from './workspace';

export interface Range {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

export interface PlannedEdit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

interface ReadRange extends Range {
  /** Version of the file that was read. */
  readonly version: number;
}

/** Maximum number of lines of a file that is read completely. */
const SHORT_FILE = 220;
/** Share of reads that read a file again. It makes as many lines repeat as in real sessions. */
const REREADS = 0.42;
/** Share of rereads of a changed file that are partial; unchanged files are reread only in part. */
const PARTIAL_REREADS = 0.9;

/**
 * A project that an agent explores. Files are created when they are first viewed, and the agent's
 * edits change them.
 */
export class Project {
  readonly workspace: Workspace;
  readonly folders: readonly string[];
  private readonly languages = new Map<string, Language>();
  private readonly versions = new Map<string, number>();
  private readonly reads: ReadRange[] = [];
  /** Files in use, newest last. */
  private focus: string[] = [];

  constructor(private readonly random: Random) {
    this.workspace = new Workspace(`/home/dev/${noun(random)}-${noun(random)}`);
    this.folders = Array.from(
      { length: 5 },
      (_, index) => `${random.pick(['internal', 'src', 'pkg'])}/${noun(random)}${index}`,
    );
  }

  /** Switches to other files, but keeps one or two in use. */
  moveOn(): void {
    this.focus = this.focus.slice(-this.random.between(1, 2));
  }

  focusFolder(): string {
    const path = this.focus.at(-1) ?? this.newFile();
    return path.slice(0, path.lastIndexOf('/'));
  }

  /** Returns what to read next: a new file, or part of a known one. */
  rangeToRead(): Range {
    const knownPath = this.random.chance(REREADS) && this.focus.length > 0 ? this.random.pick(this.focus) : undefined;
    const path = knownPath ?? this.newFile();
    const lines = this.workspace.lines(path).length;
    const isPartial =
      knownPath === undefined
        ? lines > SHORT_FILE && this.random.chance(0.7)
        : !this.hasChanged(knownPath) || this.random.chance(PARTIAL_REREADS);
    const range = isPartial ? { path, ...this.part(lines, knownPath !== undefined) } : { path };
    this.reads.push({ ...range, version: this.versions.get(path) ?? 0 });
    return range;
  }

  /** Returns a range that was read before, of a file that has not changed since. */
  rangeSeenBefore(): Range | undefined {
    const unchangedReads = this.reads
      .filter(({ path, version }) => (this.versions.get(path) ?? 0) === version)
      .slice(-30);
    if (unchangedReads.length === 0) return undefined;
    const { path, offset, limit } = this.random.pick(unchangedReads);
    return { path, ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
  }

  /** True if a file has changed since it was last read. */
  private hasChanged(path: string): boolean {
    const last = this.reads.findLast((read) => read.path === path);
    return last !== undefined && last.version !== (this.versions.get(path) ?? 0);
  }

  /** Plans an edit that can be applied: its lines are unique in a file that was read. */
  planEdit(): PlannedEdit | undefined {
    for (let attempt = 0; attempt < 5; attempt++) {
      const path = this.focus.length === 0 ? undefined : this.random.pick(this.focus);
      if (path === undefined) return undefined;
      const lines = this.workspace.lines(path);
      const start = this.random.int(Math.max(1, lines.length - 12));
      const oldLines = lines.slice(start, start + this.random.between(2, 11));
      const oldText = oldLines.join('\n');
      const text = this.workspace.text(path);
      if (oldText.trim() === '' || text.indexOf(oldText) !== text.lastIndexOf(oldText)) continue;
      this.versions.set(path, (this.versions.get(path) ?? 0) + 1);
      return { path, oldText, newText: this.rewritten(path, oldLines).join('\n') };
    }
    return undefined;
  }

  /** Returns the text as an agent wrongly remembers it. */
  misquote(text: string): string {
    return `${text}\n${codeLines(this.random, 'ts', 1, '    ').join('\n')}`;
  }

  /** Creates a file that the agent writes. */
  draftFile(): { path: string; text: string } {
    const { path, language } = this.newPath();
    this.focus.push(path);
    return { path, text: codeFile(this.random, language, this.random.between(25, 110)) };
  }

  private newFile(): string {
    const { path, language } = this.newPath();
    this.workspace.write(path, codeFile(this.random, language, this.random.between(60, 620)));
    this.focus = [...this.focus, path].slice(-6);
    return path;
  }

  private newPath(): { path: string; language: Language } {
    const language = this.random.weighted({ ts: 5, go: 4, py: 2 });
    const base = `${this.random.pick(this.folders)}/${noun(this.random)}_${noun(this.random)}`;
    const number = this.workspace.paths.length;
    const path = `${base}${number}.${language}`;
    this.languages.set(path, language);
    return { path, language };
  }

  private part(lines: number, isReread: boolean): { offset: number; limit: number } {
    const limit = isReread ? this.random.between(20, 130) : this.random.between(80, 260);
    return { offset: 1 + this.random.int(Math.max(1, lines - limit)), limit };
  }

  /** Returns the lines, of which some are changed, removed or added. */
  private rewritten(path: string, lines: readonly string[]): string[] {
    const { random } = this;
    const language = this.languages.get(path) ?? 'ts';
    const startIndex = random.int(lines.length);
    const indent = /^\s*/.exec(lines[startIndex] ?? '')?.[0] ?? '';
    const addedLines = codeLines(random, language, random.between(1, 8), indent);
    return lines.toSpliced(startIndex, random.int(3), ...addedLines);
  }
}
