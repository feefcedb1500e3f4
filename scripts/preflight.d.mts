/** What is looked at. */
export interface Machine {
  /** As process.platform and process.arch have it. */
  readonly platform: string;
  readonly arch: string;
  readonly isGlibc: boolean;
  /** The version of the Node that runs this. */
  readonly node: string;
  /** It came with the project's packages: `npm run` takes it before the machine's. */
  readonly isOwnNode?: boolean;
  /** The browser's own version line; undefined without one that runs. */
  readonly chromium?: string | undefined;
  /** Why a browser that is there does not run. */
  readonly chromiumProblem?: string | undefined;
  /** Of make, g++ and python3. */
  readonly missingCompilers: readonly string[];
  /** It is installed, with its native modules. */
  readonly hasCodeServer: boolean;
  /** Why no server on 127.0.0.1 could listen. */
  readonly loopbackProblem?: string | undefined;
  /** Of the project's disk. */
  readonly freeBytes: number;
  /** Where temporary files go. */
  readonly temporaryBytes: number;
}

/** What is missing. */
export interface Finding {
  readonly problem: string;
  /** The command, or what else helps. */
  readonly mend: string;
  /** What can't run without it. */
  readonly loses: 'everything' | 'VS Code';
}

export function thisMachine(): Promise<Machine>;
export function findings(machine: Machine): Finding[];
export function wellWords(machine: Machine): string;
export function skipWords(missing: readonly Finding[]): string;
