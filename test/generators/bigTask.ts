/** Creates a task of 120 calls of VS Code's tools on a generated project, with its files. */
import type { ScriptedCall } from '../servers/behaviour';
import { codeFile, codeLines, type Language } from './codeFiles';
import { Random } from './random';
import { noun } from './vocabulary';
import { Workspace } from './workspace';

export interface BigTask {
  /** The project's files before the task, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** The text and calls of each answer. */
  readonly steps: readonly { readonly text: string; readonly calls: readonly ScriptedCall[] }[];
  /** The first file that is read, and a line that occurs only in it. */
  readonly early: { readonly path: string; readonly line: string; readonly step: number };
}

const CALLS = 120;
const FILES = 48;
const LINES = 700;
const FACT = 'export const LEDGER_GRACE_SECONDS = 52_417; // agreed with finance after the incident in March';

/**
 * @param root the folder that the agent works in.
 * @param calls number of calls; with fewer, the task is shorter but otherwise the same.
 */
export function bigTask(root: string, seed: number, calls = CALLS): BigTask {
  const random = new Random(seed);
  const workspace = new Workspace(root);
  const languages = new Map<string, Language>();
  for (let index = 0; index < FILES; index++) {
    const language = index === 0 ? 'ts' : random.weighted({ ts: 5, go: 4, py: 2 });
    const path = `src/${noun(random)}${index % 6}/${noun(random)}_${index}.${language}`;
    languages.set(path, language);
    workspace.write(path, codeFile(random, language, LINES));
  }
  const [earlyPath = ''] = workspace.paths;
  const early = workspace.lines(earlyPath);
  workspace.write(earlyPath, `${early.toSpliced(Math.floor(early.length / 3), 0, FACT).join('\n')}\n`);
  const files = new Map(workspace.paths.map((path) => [path, workspace.text(path)]));
  const planner = new Planner(workspace, random, languages);
  const steps = planner.plan(calls);
  return { files, steps, early: { path: earlyPath, line: FACT, step: 1 } };
}

type Step = BigTask['steps'][number];

/** Plans the steps for the files in order: read, search, edit, and read again. */
class Planner {
  private readonly steps: Step[] = [];
  private made = 0;

  constructor(
    private readonly workspace: Workspace,
    private readonly random: Random,
    private readonly languages: ReadonlyMap<string, Language>,
  ) {}

  plan(calls: number): Step[] {
    const { paths } = this.workspace;
    this.add(calls, 'I look around first.', makeListCall(this.workspace.root));
    for (let fileIndex = 0; this.made < calls; fileIndex++) {
      const path = paths[fileIndex % paths.length] ?? '';
      const wholeRead = this.read(path, 1, 560);
      if (fileIndex % 3 === 0) this.add(calls, `Now ${path}, and who calls it.`, wholeRead, this.search());
      else if (fileIndex % 3 === 1) this.add(calls, `Now ${path}.`, wholeRead);
      else this.add(calls, `Now ${path}, with its end.`, wholeRead, this.read(path, 540, 700));
      if (fileIndex % 2 === 1 || this.made >= calls) continue;
      this.add(calls, 'I change it.', this.edit(path));
      const extraCalls = fileIndex % 8 === 4 ? [makeListCall(this.folderOf(path))] : [];
      this.add(calls, 'Is it right now?', this.read(path, 300, 400), ...extraCalls);
    }
    return this.steps;
  }

  /** Adds an answer with the planned calls, or with only as many as the task may still make. */
  private add(most: number, text: string, ...planned: ScriptedCall[]): void {
    const calls = planned.slice(0, most - this.made);
    if (calls.length === 0) return;
    this.made += calls.length;
    this.steps.push({ text, calls });
  }

  private read(path: string, startLine: number, endLine: number): ScriptedCall {
    return { name: 'read_file', input: { filePath: this.workspace.absolute(path), startLine, endLine } };
  }

  private search(): ScriptedCall {
    return { name: 'grep_search', input: { query: `${noun(this.random)}\\.`, isRegexp: true, maxResults: 40 } };
  }

  /** Replaces a line that is unique in its file, which is read again later. */
  private edit(path: string): ScriptedCall {
    const lines = this.workspace.lines(path);
    const text = this.workspace.text(path);
    for (let lineIndex = 310; lineIndex < 390; lineIndex++) {
      const line = lines[lineIndex] ?? '';
      if (line.trim().length < 20 || text.indexOf(line) !== text.lastIndexOf(line)) continue;
      const indent = /^\s*/.exec(line)?.[0] ?? '';
      const [changed = ''] = codeLines(this.random, this.languages.get(path) ?? 'ts', 1, indent);
      this.workspace.edit(path, line, changed);
      const input = { filePath: this.workspace.absolute(path), oldString: line, newString: changed };
      return { name: 'replace_string_in_file', input };
    }
    throw new Error(`no line to change in ${path}`);
  }

  private folderOf(path: string): string {
    return this.workspace.absolute(path.slice(0, path.lastIndexOf('/')));
  }
}

const makeListCall = (path: string): ScriptedCall => ({ name: 'list_dir', input: { path } });
