/** Generates command output: test runs, diffs, logs and builds. */
import type { Random } from './random';
import { adjective, capitalized, functionName, noun, typeName, verb } from './vocabulary';

export interface CommandRun {
  readonly command: string;
  readonly description: string;
  readonly output: string;
  readonly exitCode: number;
}

/** A test suite whose names stay the same, while times vary and tests sometimes fail. */
export class TestSuite {
  private readonly names: readonly string[];

  constructor(
    random: Random,
    readonly folder: string,
    count: number,
  ) {
    this.names = Array.from(
      { length: count },
      () => `Test${capitalized(functionName(random))}/${adjective(random)}_${noun(random)}`,
    );
  }

  run(random: Random): CommandRun {
    const failedTest = random.chance(0.35) ? random.pick(this.names) : undefined;
    const lines = this.names.flatMap((name) => {
      const seconds = `0.${String(random.int(99)).padStart(2, '0')}s`;
      return name === failedTest
        ? [
            `=== RUN   ${name}`,
            `    ${noun(random)}_test.go:${random.between(20, 700)}: got ${random.int(90)}, want ${random.int(90)}`,
            `--- FAIL: ${name} (${seconds})`,
          ]
        : [`--- PASS: ${name} (${seconds})`];
    });
    const end =
      failedTest === undefined
        ? `ok  \texample.com/${this.folder}\t${random.int(9)}.${random.int(999)}s`
        : `FAIL\texample.com/${this.folder}`;
    return {
      command: `go test ./${this.folder}/... 2>&1 | tail -60`,
      description: `Run the tests of ${this.folder}`,
      output: [...lines, end].join('\n'),
      exitCode: failedTest === undefined ? 0 : 1,
    };
  }
}

/** Generates the output of a command that isn't repeated. */
export function otherCommand(random: Random, chars: number): CommandRun {
  const kind = random.pick(['log', 'build', 'history', 'service'] as const);
  const lines: string[] = [];
  for (let length = 0; length < chars;) {
    const line = LINES[kind](random, lines.length);
    lines.push(line);
    length += line.length + 1;
  }
  return { ...COMMANDS[kind](random), output: lines.join('\n'), exitCode: random.chance(0.1) ? 1 : 0 };
}

const LINES = {
  log: (random: Random, index: number) =>
    `2026-02-09T0${random.int(10)}:${random.between(10, 59)}:${random.between(10, 59)}.${random.between(100, 999)}Z ${random.pick(['INFO ', 'DEBUG', 'WARN '])} ${noun(random)}.${noun(random)} ${verb(random)} ${noun(random)}=${random.int(1e6)} step=${index} took=${random.int(900)}ms`,
  build: (random: Random, index: number) =>
    `[${index + 1}/96] ${capitalized(verb(random))}ing ${noun(random)}/${noun(random)}.${random.pick(['o', 'js', 'rs'])} (${random.int(900)} KiB, ${typeName(random)})`,
  history: (random: Random) =>
    `${random
      .int(2 ** 31)
      .toString(16)
      .padStart(7, '0')
      .slice(
        0,
        7,
      )} ${capitalized(verb(random))} ${adjective(random)} ${noun(random)} ${random.pick(['in', 'for', 'of'])} ${noun(random)} (#${random.between(100, 9000)})`,
  service: (random: Random) =>
    `{"${noun(random)}":"${adjective(random)}-${noun(random)}","id":${random.int(1e6)},"${noun(random)}":{"${noun(random)}":${random.int(5000)},"state":"${adjective(random)}"}}`,
};

const COMMANDS = {
  log: (random: Random) => ({
    command: `docker logs ${noun(random)}-${noun(random)} --tail 200`,
    description: 'Look at the log',
  }),
  build: (random: Random) => ({ command: `make -j4 ${noun(random)} 2>&1`, description: `Build the ${noun(random)}` }),
  history: (random: Random) => ({
    command: `git log --oneline -${random.between(10, 80)} -- ${noun(random)}`,
    description: 'Recent commits',
  }),
  service: (random: Random) => ({
    command: `curl -s localhost:8080/${noun(random)}s | jq -c '.[]'`,
    description: 'Ask the service',
  }),
};
