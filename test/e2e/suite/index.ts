import { appendFileSync } from 'node:fs';
import type { MochaOptions, ReporterConstructor, Runner, Test } from 'mocha';
import { reporters } from 'mocha';
import { onlyVariable, resultsVariable } from './names';

export type SuiteResult =
  | { readonly kind: 'test'; readonly name: string; readonly seconds: number; readonly error?: string }
  /** Figures of a test, as text and by name. */
  | { readonly kind: 'figure'; readonly text: string; readonly values: Readonly<Record<string, number>> }
  | { readonly kind: 'end' };

/** Appends a result to a file, one per line, because the page's console is unsuitable. */
function writeResult(result: SuiteResult): void {
  const file = process.env[resultsVariable];
  if (file === undefined) console.log(JSON.stringify(result));
  else appendFileSync(file, `${JSON.stringify(result)}\n`);
}

/** Prints a test's figures next to the results. */
export const reportFigure = (text: string, values: Readonly<Record<string, number>> = {}): void => {
  writeResult({ kind: 'figure', text, values });
};

/** Reports the end of each test as a plain value. */
function reporter(): ReporterConstructor {
  return class extends reporters.Base {
    constructor(runner: Runner, options: MochaOptions) {
      super(runner, options);
      const recordEnd = (test: Test, error?: Error): void => {
        writeResult({
          kind: 'test',
          name: test.fullTitle(),
          seconds: (test.duration ?? 0) / 1000,
          ...(error === undefined ? {} : { error: error.stack ?? error.message }),
        });
      };
      runner.on('pass', recordEnd);
      runner.on('fail', recordEnd);
      runner.on('end', () => {
        writeResult({ kind: 'end' });
      });
    }
  };
}

export async function runSuite(load: () => Promise<void>): Promise<void> {
  const { default: Mocha } = await import('mocha');
  const mocha = new Mocha({
    ui: 'tdd',
    timeout: 60_000,
    forbidOnly: process.env['CI'] === 'true',
    forbidPending: process.env['CI'] === 'true',
    reporter: reporter(),
  });
  const { [onlyVariable]: only = '' } = process.env;
  const texts = only.split('\n').map((text) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  if (only !== '') mocha.grep(new RegExp(texts.join('|')));
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  await load();
  const failures = await new Promise<number>((resolve) => {
    mocha.run(resolve);
  });
  if (failures > 0) throw new Error(`${failures} failed`);
}
