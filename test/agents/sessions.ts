/** Sessions for {@link compareReading}, with the user's input and the model's steps. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InjectedFault } from './agents';

/** The model's text, and its calls of the agent's tools. */
export interface Step {
  readonly text: string;
  readonly reads?: readonly string[];
  readonly runs?: readonly string[];
  /** The fault of the step's first request; the retry is answered. */
  readonly fault?: InjectedFault;
  /** True if the step calls the agent's tool that starts a subagent. */
  readonly delegates?: boolean;
}

/** One process of the agent: the first starts the session, and later ones resume it. */
export interface SessionProcess {
  readonly task: string;
  /** Prepares the working folder. */
  readonly before?: (work: string) => void;
  readonly steps: readonly Step[];
  /** Changes the agent's arguments. */
  readonly args?: (args: readonly string[]) => readonly string[];
  /**
   * Interrupts the process while the last step's command runs, which creates {@link RUNNING_FILE}. Such
   * a process is not compared.
   */
  readonly isInterrupted?: boolean;
  /** Text that is typed while such a command runs. */
  readonly typedText?: string;
  /** True if the process requests only a summary; it is not compared. */
  readonly isCompaction?: boolean;
}

export interface Session {
  readonly name: string;
  readonly agents?: readonly string[];
  /** Files below the home folder; non-strings are written as JSON. */
  readonly home?: Readonly<Record<string, unknown>>;
  readonly processes: readonly SessionProcess[];
}

/** Exists once a command is running. */
export const RUNNING_FILE = 'running.txt';
const WAITING_COMMAND = `touch ${RUNNING_FILE}; sleep 3`;

const MEMORY_FILES = ['CLAUDE.md', 'AGENTS.md', 'GEMINI.md', 'QWEN.md'];
const makeLines = (name: string, count = 12): string =>
  Array.from({ length: count }, (_, at) => `${name} holds line ${at + 1}`).join('\n') + '\n';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const FILES: ReadonlyMap<string, string> = new Map([
  ...MEMORY_FILES.map((name): [string, string] => [name, `Memory of ${name}: the tests are run with make check.\n`]),
  ['notes.md', '# Notes\n\nThe loader is slow.\n'],
  ['a.txt', makeLines('a')],
  ['b.txt', makeLines('b')],
]);

const TASK: SessionProcess = {
  task: 'Look at @notes.md and tell me why the loader is slow.',
  steps: [
    { text: 'I read the first file and list the second.', reads: ['a.txt'], runs: ['cat b.txt'] },
    { text: 'Now a command that fails.', runs: ['cat none.txt; exit 3'] },
    { text: 'The loader reads both files twice.' },
  ],
};

const RESUMING_PROCESS: SessionProcess = {
  task: 'Then go on with the second file, please.',
  steps: [{ text: 'I look again.', reads: ['a.txt'] }, { text: 'All of it is done.' }],
};

/**
 * Selects the newest model that Claude Code 2.1.332 knows, which allows system messages between
 * other messages.
 */
const useNewestModel = (args: readonly string[]): readonly string[] =>
  args.map((one) => (one === 'claude-sonnet-4-5' ? 'claude-opus-4-8' : one));

const makeHook = (words: string) => [{ hooks: [{ type: 'command', command: `echo ${words}` }] }];

export const SESSIONS: readonly Session[] = [
  {
    name: 'task, resumed after a file was changed outside',
    processes: [
      TASK,
      {
        ...RESUMING_PROCESS,
        before: (work) => {
          writeFileSync(join(work, 'a.txt'), makeLines('a').replace('line 7', 'line seven, changed outside'));
        },
      },
    ],
  },
  {
    name: 'interrupted call, resumed',
    agents: ['claude', 'codex', 'opencode', 'pi', 'qwen', 'gemini', 'copilot', 'kilo'],
    processes: [
      {
        task: 'Wait for the loader.',
        steps: [{ text: 'I wait.', runs: [`touch ${RUNNING_FILE}; sleep 30`] }],
        isInterrupted: true,
      },
      RESUMING_PROCESS,
    ],
  },
  {
    name: 'subagent, image',
    agents: ['claude', 'opencode', 'copilot', 'kilo', 'qwen'],
    processes: [
      {
        task: 'Let another one look, then see the picture.',
        before: (work) => {
          writeFileSync(join(work, 'p.png'), Buffer.from(PIXEL, 'base64'));
        },
        steps: [
          { text: 'I ask another one.', delegates: true },
          { text: 'Now the picture.', reads: ['p.png'] },
          { text: 'I saw it.' },
        ],
      },
    ],
  },
  {
    name: 'newer model, hooks, words typed in mid-turn',
    agents: ['claude'],
    home: {
      '.claude/settings.json': {
        hooks: { SessionStart: makeHook('A session starts.'), UserPromptSubmit: makeHook('A prompt was given.') },
      },
    },
    processes: [
      {
        task: 'Look at @notes.md and wait for the loader.',
        args: (args) => [
          ...useNewestModel(args).slice(0, -1),
          '--input-format',
          'stream-json',
          '--output-format',
          'stream-json',
          '--verbose',
        ],
        typedText: 'Never touch the second file.',
        steps: [
          { text: 'I wait.', runs: [WAITING_COMMAND] },
          { text: 'I look.', reads: ['a.txt'] },
          { text: 'It is left alone.' },
        ],
      },
      { ...RESUMING_PROCESS, args: useNewestModel },
    ],
  },
  {
    name: 'fork',
    agents: ['claude'],
    processes: [TASK, { ...RESUMING_PROCESS, args: (args) => ['--fork-session', ...args] }],
  },
  {
    name: 'compaction by hand',
    agents: ['claude'],
    processes: [TASK, { task: '/compact', steps: [], isCompaction: true }, RESUMING_PROCESS],
  },
];
