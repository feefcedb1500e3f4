/**
 * Generates source files that resemble real ones, in three languages, with many names and few
 * repeated lines.
 */
import type { Random } from './random';
import { adjective, capitalized, functionName, noun, snake, typeName, variableName, verb } from './vocabulary';

export type Language = 'ts' | 'py' | 'go';

/** What a file's functions are about, so that its names recur. */
interface Subject {
  readonly type: string;
  readonly fields: readonly string[];
  readonly helpers: readonly string[];
}

const makeSubject = (random: Random): Subject => ({
  type: typeName(random),
  fields: Array.from({ length: random.between(4, 9) }, () => variableName(random)),
  helpers: Array.from({ length: random.between(3, 7) }, () => functionName(random)),
});

/** Generates a file of about this many lines. */
export function codeFile(random: Random, language: Language, lines: number): string {
  const subject = makeSubject(random);
  const fileLines = WRITERS[language].head(random, subject);
  while (fileLines.length < lines) fileLines.push('', ...WRITERS[language].unit(random, subject));
  return `${fileLines.join('\n')}\n`;
}

/** Generates new lines for an edit. */
export const codeLines = (random: Random, language: Language, count: number, indent: string): string[] => {
  const subject = makeSubject(random);
  return Array.from({ length: count }, () => indent + WRITERS[language].statement(random, subject));
};

interface Writer {
  head(random: Random, subject: Subject): string[];
  unit(random: Random, subject: Subject): string[];
  statement(random: Random, subject: Subject): string;
}

const sentence = (random: Random, subject: Subject): string =>
  random.pick([
    `${capitalized(verb(random))}s the ${adjective(random)} ${noun(random)} of a ${noun(random)}.`,
    `Only ${adjective(random)} ${noun(random)}s count; a ${adjective(random)} ${noun(random)} was handled before.`,
    `The ${noun(random)} may be ${adjective(random)}: see ${random.pick(subject.helpers)}.`,
    `Called once per ${noun(random)}, never while the ${noun(random)} is ${adjective(random)}.`,
  ]);

const makeCodeText = (random: Random): string =>
  random.pick([
    `${adjective(random)} ${noun(random)} for ${noun(random)}`,
    `cannot ${verb(random)} ${noun(random)}: ${noun(random)} is ${adjective(random)}`,
    `${noun(random)}/${noun(random)}`,
    `${noun(random)}.${noun(random)}`,
  ]);

/** Generates statements with nested blocks; those after the first are indented. */
function body(random: Random, subject: Subject, writer: Writer, indent: string, count: number): string[] {
  const lines: string[] = [];
  for (let index = 0; index < count; index++) {
    lines.push(indent + writer.statement(random, subject));
    if (random.chance(0.12)) lines.push('');
  }
  return lines;
}

const TS: Writer = {
  head: (random, { type, fields }) => [
    ...Array.from(
      { length: random.between(3, 8) },
      () =>
        `import { ${functionName(random)}, ${functionName(random)}, type ${typeName(random)} } from './${noun(random)}/${noun(random)}';`,
    ),
    '',
    `export interface ${type} {`,
    ...fields.map(
      (field) =>
        `  readonly ${field}: ${random.pick(['string', 'number', 'boolean', typeName(random), `readonly ${typeName(random)}[]`])};`,
    ),
    '}',
  ],
  unit: (random, subject) => [
    `/** ${sentence(random, subject)} */`,
    `export ${random.chance(0.4) ? 'async ' : ''}function ${functionName(random)}(${variableName(random)}: ${subject.type}, ${variableName(random)}: ${random.pick(['string', 'number', typeName(random)])}): ${random.pick(['void', 'boolean', typeName(random)])} {`,
    ...body(random, subject, TS, '  ', random.between(2, 6)),
    `  if (${variableName(random)}.${random.pick(subject.fields)} ${random.pick(['===', '!==', '>', '<='])} ${random.pick(subject.fields)}) {`,
    ...body(random, subject, TS, '    ', random.between(1, 4)),
    '  }',
    ...body(random, subject, TS, '  ', random.between(1, 5)),
    `  return ${random.pick(subject.helpers)}(${variableName(random)});`,
    '}',
  ],
  statement: (random, { fields, helpers }) =>
    random.pick([
      `const ${variableName(random)} = ${random.pick(helpers)}(${random.pick(fields)}, ${variableName(random)}.${noun(random)});`,
      `const ${variableName(random)} = await this.${noun(random)}.${verb(random)}(${random.pick(fields)});`,
      `${variableName(random)}.${verb(random)}({ ${random.pick(fields)}: ${random.between(2, 900)}, ${noun(random)}: '${makeCodeText(random)}' });`,
      `if (!${random.pick(fields)}) throw new ${typeName(random)}Error('${makeCodeText(random)}');`,
      `${noun(random)}.${random.pick(fields)} = ${noun(random)};`,
      `const ${noun(random)} = ${random.pick(fields)};`,
      `${random.pick(helpers)}(${noun(random)});`,
      `for (const ${noun(random)} of ${variableName(random)}.${noun(random)}s) ${random.pick(helpers)}(${noun(random)});`,
      `// ${sentence(random, { type: '', fields, helpers })}`,
      `const ${variableName(random)} = ${variableName(random)}.filter((${noun(random)}) => ${noun(random)}.${random.pick(fields)} !== undefined);`,
    ]),
};

const PY: Writer = {
  head: (random, { type, fields }) => [
    `"""${capitalized(adjective(random))} ${noun(random)}s and their ${noun(random)}s."""`,
    '',
    ...Array.from(
      { length: random.between(3, 7) },
      () => `from ${noun(random)}.${noun(random)} import ${typeName(random)}, ${snake(functionName(random))}`,
    ),
    '',
    '',
    '@dataclass(frozen=True)',
    `class ${type}:`,
    ...fields.map(
      (field) =>
        `    ${snake(field)}: ${random.pick(['str', 'int', 'bool', `list[${typeName(random)}]`, `Optional[${typeName(random)}]`])}`,
    ),
  ],
  unit: (random, subject) => [
    '',
    `def ${snake(functionName(random))}(${snake(variableName(random))}: ${subject.type}, *, ${snake(variableName(random))}: int = ${random.between(1, 500)}) -> ${typeName(random)}:`,
    `    """${sentence(random, subject)}"""`,
    ...body(random, subject, PY, '    ', random.between(2, 6)),
    `    if ${snake(variableName(random))}.${snake(random.pick(subject.fields))} is ${random.pick(['None', 'not None', 'True'])}:`,
    ...body(random, subject, PY, '        ', random.between(1, 4)),
    ...body(random, subject, PY, '    ', random.between(1, 4)),
    `    return ${snake(random.pick(subject.helpers))}(${snake(variableName(random))})`,
  ],
  statement: (random, { fields, helpers }) =>
    random.pick([
      `${snake(variableName(random))} = ${snake(random.pick(helpers))}(${snake(random.pick(fields))}, ${noun(random)}=${random.between(2, 900)})`,
      `${snake(variableName(random))} = [${noun(random)}.${snake(random.pick(fields))} for ${noun(random)} in ${snake(variableName(random))}]`,
      `log.${random.pick(['info', 'debug', 'warning'])}("${makeCodeText(random)}: %s", ${snake(variableName(random))})`,
      `self._${snake(variableName(random))}.${snake(functionName(random))}(${snake(random.pick(fields))})`,
      `${noun(random)} = ${snake(random.pick(fields))}`,
      `${noun(random)}.${verb(random)}()`,
      `yield ${snake(variableName(random))}`,
      `raise ${typeName(random)}Error("${makeCodeText(random)}")`,
      `# ${sentence(random, { type: '', fields, helpers })}`,
    ]),
};

const GO: Writer = {
  head: (random, { type, fields }) => [
    `// Package ${noun(random)} ${verb(random)}s ${adjective(random)} ${noun(random)}s.`,
    `package ${noun(random)}`,
    '',
    'import (',
    '\t"context"',
    '\t"fmt"',
    ...Array.from({ length: random.between(2, 6) }, () => `\t"example.com/platform/${noun(random)}/${noun(random)}"`),
    ')',
    '',
    `type ${type} struct {`,
    ...fields.map(
      (field) =>
        `\t${capitalized(field)} ${random.pick(['string', 'int64', 'bool', `[]${typeName(random)}`, `*${typeName(random)}`])} \`json:"${snake(field)}"\``,
    ),
    '}',
  ],
  unit: (random, subject) => {
    const name = capitalized(functionName(random));
    return [
      `// ${name}: ${sentence(random, subject)}`,
      `func (${noun(random).charAt(0)} *${subject.type}) ${name}(ctx context.Context, ${variableName(random)} ${random.pick(['string', 'int64', typeName(random)])}) (*${typeName(random)}, error) {`,
      ...body(random, subject, GO, '\t', random.between(2, 5)),
      '\tif err != nil {',
      `\t\treturn nil, fmt.Errorf("${makeCodeText(random)}: %w", err)`,
      '\t}',
      ...body(random, subject, GO, '\t', random.between(1, 5)),
      `\treturn ${random.pick(subject.helpers)}(${variableName(random)}), nil`,
      '}',
    ];
  },
  statement: (random, { fields, helpers }) =>
    random.pick([
      `${variableName(random)}, err := ${random.pick(helpers)}(ctx, ${random.pick(fields)}, ${random.between(2, 900)})`,
      `${variableName(random)} := ${noun(random)}.${capitalized(random.pick(fields))}`,
      `log.Printf("${makeCodeText(random)}: %v", ${variableName(random)})`,
      `${noun(random)} := ${random.pick(fields)}`,
      `go ${random.pick(helpers)}(ctx)`,
      `${noun(random)}.${capitalized(verb(random))}()`,
      `defer ${variableName(random)}.${capitalized(verb(random))}()`,
      `${variableName(random)} = append(${variableName(random)}, ${random.pick(helpers)}(${random.pick(fields)}))`,
      `// ${sentence(random, { type: '', fields, helpers })}`,
      `for _, ${noun(random)} := range ${variableName(random)}.${capitalized(noun(random))}s { ${random.pick(helpers)}(${noun(random)}) }`,
    ]),
};

const WRITERS: Readonly<Record<Language, Writer>> = { ts: TS, py: PY, go: GO };
