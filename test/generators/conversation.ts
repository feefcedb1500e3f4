/**
 * Generates conversations of an agent that works on an in-memory project. Each action is chosen so
 * that the whole approaches the composition of 273 real Claude Code sessions.
 */
import type { ApiMessage } from '../../src/core/messages/types';
import { ClaudeCodeTools, type Todo } from './claudeCodeTools';
import { otherCommand, TestSuite } from './commandOutput';
import { Project } from './project';
import { prose, makeReport } from './prose';
import { Random } from './random';
import { Session, type Call } from './session';
import { noun, verb } from './vocabulary';

export interface ConversationOptions {
  readonly seed: number;
  /** Approximate length, at {@link CHARS_PER_TOKEN} characters per token. */
  readonly targetTokens: number;
  readonly shares?: Partial<Shares>;
  readonly results?: Partial<ResultShares>;
  /** Share of the calls' inputs that belong to failing calls. */
  readonly erroredInput?: number;
  /** Share of read content that repeats earlier content exactly. */
  readonly identicalReads?: number;
  /** Number of interrupted calls without results, which make the conversation imperfect. */
  readonly interruptedCalls?: number;
}

export type Shares = Readonly<Record<'toolInput' | 'thinking' | 'assistantText' | 'userText', number>>;
export type ResultShares = Readonly<Record<'Read' | 'Bash' | 'Grep' | 'Edit' | 'Task', number>>;

const SHARES: Shares = { toolInput: 0.159, thinking: 0.079, assistantText: 0.042, userText: 0.035 };
const RESULTS: ResultShares = { Read: 0.65, Bash: 0.157, Grep: 0.095, Edit: 0.033, Task: 0.03 };

/** Share of the results of all other tools. */
const OTHER_RESULTS = 0.025;

/** The value was measured on generated conversations with o200k. */
const CHARS_PER_TOKEN = 3.75;

/** Approximate characters of a result. Tools with long results are chosen less often. */
const TYPICAL = {
  Read: 7_000,
  Bash: 3_000,
  Grep: 2_500,
  Task: 4_500,
  Other: 1_500,
};

/** Generates the same conversation for the same options. */
export function generateConversation(options: ConversationOptions): ApiMessage[] {
  return new Agent(options).run();
}

class Agent {
  private readonly random: Random;
  private readonly project: Project;
  private readonly tools: ClaudeCodeTools;
  private readonly session: Session;
  private readonly suites: readonly TestSuite[];
  private readonly shares: Shares;
  private readonly results: ResultShares;
  private readonly chars = { toolResult: 0, toolInput: 0, thinking: 0, assistantText: 0, userText: 0 };
  private readonly byTool = new Map<string, number>();
  private erroredChars = 0;
  private identicalChars = 0;
  private turns = 0;

  constructor(private readonly options: ConversationOptions) {
    this.random = new Random(options.seed);
    this.project = new Project(this.random.fork());
    this.tools = new ClaudeCodeTools(this.project.workspace);
    this.session = new Session(this.random.fork());
    this.suites = this.project.folders.map((folder) => new TestSuite(this.random, folder, this.random.between(12, 45)));
    this.shares = { ...SHARES, ...options.shares };
    this.results = { ...RESULTS, ...options.results };
  }

  run(): ApiMessage[] {
    const target = this.options.targetTokens * CHARS_PER_TOKEN;
    const interruptions = this.options.interruptedCalls ?? 0;
    let interruptedCount = 0;
    this.ask(300);
    while (this.total < target) {
      if (interruptedCount < interruptions && this.total > (target * (interruptedCount + 1)) / (interruptions + 1)) {
        interruptedCount++;
        this.session.interrupted(this.read());
        this.session.user(`[Request interrupted by user for tool use]`);
      }
      this.step();
    }
    this.say(400);
    this.session.flush();
    return this.session.messages;
  }

  private get total(): number {
    return Object.values(this.chars).reduce((sum, chars) => sum + chars, 0);
  }

  /** Returns how many characters a share still needs. */
  private missing(share: keyof Shares): number {
    return this.shares[share] * this.total - this.chars[share];
  }

  private step(): void {
    const { random } = this;
    // The user writes after some work, and writes more after a longer silence.
    if (this.missing('userText') > 250 && ++this.turns % 12 === 0) {
      this.say(600);
      this.session.flush();
      this.project.moveOn();
      this.ask(this.missing('userText'));
    }
    const missingThinking = this.missing('thinking');
    if (missingThinking > random.between(200, 900)) this.think(Math.min(missingThinking, 3_000));
    const missingText = this.missing('assistantText');
    if (missingText > random.between(60, 300)) this.say(Math.min(missingText, 500));
    if (this.missing('toolInput') > random.between(0, 1_500)) this.call(...this.change());
    else this.call(...this.look());
  }

  /** Makes calls with long parameters. */
  private change(): readonly Call[] {
    const { random } = this;
    const missingErroredChars = (this.options.erroredInput ?? 0.06) * this.chars.toolInput - this.erroredChars;
    const kind = random.weighted({ edit: 82, write: 6, todo: 12 });
    switch (kind) {
      case 'todo':
        return [this.tools.todo(this.todos())];
      case 'write': {
        const { path, text } = this.project.draftFile();
        return [this.tools.write(path, text)];
      }
      case 'edit': {
        const change = this.project.planEdit();
        if (!change) return [this.read()];
        if (missingErroredChars > change.oldText.length) {
          return [this.tools.failedEdit(change.path, this.project.misquote(change.oldText), change.newText)];
        }
        const isEchoed = this.lacks('Edit') > 0;
        return [this.tools.edit(change.path, change.oldText, change.newText, isEchoed)];
      }
    }
  }

  /** Makes calls with long results. */
  private look(): readonly Call[] {
    const weight = (tool: keyof typeof TYPICAL): number => Math.max(0.001, this.lacks(tool)) / TYPICAL[tool];
    const weights = {
      Read: weight('Read'),
      Bash: weight('Bash'),
      Grep: weight('Grep'),
      Task: weight('Task'),
      Other: weight('Other'),
    };
    switch (this.random.weighted(weights)) {
      case 'Read':
        // Sometimes several files are read in one message.
        return Array.from({ length: this.random.chance(0.2) ? this.random.between(2, 3) : 1 }, () => this.read());
      case 'Bash':
        return [this.bash()];
      case 'Grep':
        return [this.search()];
      case 'Task':
        return [this.task()];
      case 'Other':
        return [this.random.chance(0.4) ? this.tools.glob('**/*.go', '.go') : this.issue()];
    }
  }

  /**
   * Returns how many characters a tool's share still needs, if one more typical result is added.
   */
  private lacks(tool: keyof ResultShares | 'Other'): number {
    const share = tool === 'Other' ? OTHER_RESULTS : this.results[tool];
    return share * (this.chars.toolResult + 8_000) - (this.byTool.get(tool) ?? 0);
  }

  private read(): Call {
    const missingIdenticalChars =
      (this.options.identicalReads ?? 0.021) * (this.byTool.get('Read') ?? 0) - this.identicalChars;
    const rangeToRepeat = missingIdenticalChars > 2_000 ? this.project.rangeSeenBefore() : undefined;
    const { path, offset, limit } = rangeToRepeat ?? this.project.rangeToRead();
    const call = this.tools.read(path, offset, limit);
    if (rangeToRepeat) this.identicalChars += call.result.length;
    return call;
  }

  private bash(): Call {
    const { random } = this;
    const commandRun = random.chance(0.45)
      ? random.pick(this.suites).run(random)
      : otherCommand(random, random.between(400, 6_500));
    return this.tools.bash(commandRun.command, commandRun.description, commandRun.output, commandRun.exitCode);
  }

  private search(): Call {
    const { random } = this;
    return this.tools.grep(
      random.chance(0.5) ? noun(random) : verb(random),
      this.project.focusFolder(),
      random.between(8, 60),
    );
  }

  private task(): Call {
    const { random } = this;
    const about = prose(random, random.between(300, 900));
    return {
      tool: 'Task',
      input: { description: `Explore ${noun(random)} ${noun(random)}`, prompt: about, subagent_type: 'Explore' },
      result: makeReport(random, this.project.workspace.paths, random.between(2_500, 6_500)),
    };
  }

  private issue(): Call {
    const { random } = this;
    const id = `OPS-${random.between(100, 9_999)}`;
    const issue = {
      id,
      title: prose(random, 40),
      state: verb(random),
      description: prose(random, random.between(400, 2_500)),
    };
    return { tool: 'mcp__tracker__get_issue', input: { id }, result: JSON.stringify(issue, null, 2) };
  }

  private todos(): Todo[] {
    const { random } = this;
    const doneCount = random.int(6);
    return Array.from({ length: 6 }, (_, index) => {
      const [action, thing] = [verb(random), `${noun(random)} ${noun(random)}`];
      const status = index < doneCount ? 'completed' : index === doneCount ? 'in_progress' : 'pending';
      return { content: `${action} the ${thing}`, status, activeForm: `${action}ing the ${thing}` };
    });
  }

  private ask(chars: number): void {
    const text = prose(this.random, chars);
    this.chars.userText += text.length;
    this.session.user(text);
  }

  private say(chars: number): void {
    const text = prose(this.random, Math.max(40, chars * 0.7));
    this.chars.assistantText += text.length;
    this.session.say(text);
  }

  private think(chars: number): void {
    const text = prose(this.random, Math.max(100, chars * 0.8));
    this.chars.thinking += text.length;
    this.session.think(text);
  }

  private call(...calls: readonly Call[]): void {
    for (const { tool, input, result, isError } of calls) {
      const inputChars = JSON.stringify(input).length;
      this.chars.toolInput += inputChars;
      if (isError === true) this.erroredChars += inputChars;
      this.chars.toolResult += result.length;
      const countedTool = Object.hasOwn(this.results, tool) ? tool : 'Other';
      this.byTool.set(countedTool, (this.byTool.get(countedTool) ?? 0) + result.length);
    }
    this.session.call(...calls);
  }
}
