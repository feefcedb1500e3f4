/** The properties of a machine that tests depend on. */
export interface Machine {
  /** As in `process.platform`. */
  readonly platform: string;
  readonly arch: string;
  readonly isGlibc: boolean;
  /** The version of the running Node. */
  readonly node: string;
  /** True if the Node came with the project's packages; `npm run` prefers it to the machine's. */
  readonly isOwnNode?: boolean;
  /** The browser's own version line; undefined if no browser runs. */
  readonly chromium?: string | undefined;
  /** Why an installed browser does not run. */
  readonly chromiumProblem?: string | undefined;
  /** The missing ones of make, g++ and python3. */
  readonly missingCompilers: readonly string[];
  /** True if code-server is installed with its native modules. */
  readonly hasCodeServer: boolean;
  /** Why no server can listen on 127.0.0.1. */
  readonly loopbackProblem?: string | undefined;
  /** Free bytes on the project's disk. */
  readonly freeBytes: number;
  /** Free bytes where temporary files go. */
  readonly temporaryBytes: number;
}

/** A part that the machine lacks. */
export interface Finding {
  readonly problem: string;
  /** The command that installs it, or other help. */
  readonly mend: string;
  /** The tests that can't run without it. */
  readonly loses: 'everything' | 'VS Code';
}

export function inspectMachine(): Promise<Machine>;
export function listFindings(machine: Machine): Finding[];
export function describeMachine(machine: Machine): string;
export function describeSkippedTests(missing: readonly Finding[]): string;
