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
  /** How the file was then. */
  readonly version: number;
}

/** Lines of a file that is read whole. */
const SHORT_FILE = 220;
/** Share of the reads that look at a file which was read before; real sessions' repeated lines follow from it. */
const REREADS = 0.42;
/** Of changed files; one that is the same is read again in part only. */
const PARTIAL_REREADS = 0.9;

/** A project that an agent explores: files come to be when they are first looked at, and change by its edits. */
export class Project {
  readonly workspace: Workspace;
  readonly folders: readonly string[];
  private readonly languages = new Map<string, Language>();
  private readonly versions = new Map<string, number>();
  private readonly reads: ReadRange[] = [];
  /** The files that the agent works on now; the newest last. */
  private focus: string[] = [];

  constructor(private readonly random: Random) {
    this.workspace = new Workspace(`/home/dev/${noun(random)}-${noun(random)}`);
    this.folders = Array.from(
      { length: 5 },
      (_, index) => `${random.pick(['internal', 'src', 'pkg'])}/${noun(random)}${index}`,
    );
  }

  /** Another part of the task: other files, of which one or two stay. */
  moveOn(): void {
    this.focus = this.focus.slice(-this.random.between(1, 2));
  }

  focusFolder(): string {
    const path = this.focus.at(-1) ?? this.newFile();
    return path.slice(0, path.lastIndexOf('/'));
  }

  /** The agent's next read: a new file, or a part of one that it knows. */
  rangeToRead(): Range {
    const known = this.random.chance(REREADS) && this.focus.length > 0 ? this.random.pick(this.focus) : undefined;
    const path = known ?? this.newFile();
    const lines = this.workspace.lines(path).length;
    const isPartial =
      known === undefined
        ? lines > SHORT_FILE && this.random.chance(0.7)
        : !this.hasChanged(known) || this.random.chance(PARTIAL_REREADS);
    const range = isPartial ? { path, ...this.part(lines, known !== undefined) } : { path };
    this.reads.push({ ...range, version: this.versions.get(path) ?? 0 });
    return range;
  }

  /** A range that was read before and whose file is still the same. */
  rangeSeenBefore(): Range | undefined {
    const same = this.reads.filter(({ path, version }) => (this.versions.get(path) ?? 0) === version).slice(-30);
    if (same.length === 0) return undefined;
    const { path, offset, limit } = this.random.pick(same);
    return { path, ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
  }

  /** True where a file is no longer what the agent last read of it. */
  private hasChanged(path: string): boolean {
    const last = this.reads.findLast((read) => read.path === path);
    return last !== undefined && last.version !== (this.versions.get(path) ?? 0);
  }

  /** An edit that will apply: some lines that stand once in a file which the agent has read. */
  planEdit(): PlannedEdit | undefined {
    for (let attempt = 0; attempt < 5; attempt++) {
      const path = this.focus.length === 0 ? undefined : this.random.pick(this.focus);
      if (path === undefined) return undefined;
      const lines = this.workspace.lines(path);
      const start = this.random.int(Math.max(1, lines.length - 12));
      const old = lines.slice(start, start + this.random.between(2, 11));
      const oldText = old.join('\n');
      const text = this.workspace.text(path);
      if (oldText.trim() === '' || text.indexOf(oldText) !== text.lastIndexOf(oldText)) continue;
      this.versions.set(path, (this.versions.get(path) ?? 0) + 1);
      return { path, oldText, newText: this.rewritten(path, old).join('\n') };
    }
    return undefined;
  }

  /** The text as somebody remembers it wrongly. */
  misquote(text: string): string {
    return `${text}\n${codeLines(this.random, 'ts', 1, '    ').join('\n')}`;
  }

  /** A file that the agent writes itself. */
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

  /** The lines with one or two of them changed, some gone and some new. */
  private rewritten(path: string, lines: readonly string[]): string[] {
    const { random } = this;
    const language = this.languages.get(path) ?? 'ts';
    const at = random.int(lines.length);
    const indent = /^\s*/.exec(lines[at] ?? '')?.[0] ?? '';
    const added = codeLines(random, language, random.between(1, 8), indent);
    return lines.toSpliced(at, random.int(3), ...added);
  }
}
