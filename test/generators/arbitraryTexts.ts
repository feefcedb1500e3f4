/**
 * Texts for histories. Some come from a small stock, so that files, outputs and environments recur
 * completely, partly or changed; others are arbitrary.
 */
import fc from 'fast-check';
import { makeTestMarker } from '../../src/core/testing';

const FILES = 4;

/** Creates a line of a generated file; each version changes every eleventh line. */
const codeLine = (file: number, version: number, line: number): string => {
  if (line % 9 === 8) return '';
  if (line % 9 === 7) return '}';
  if (line % 9 === 0) return `export function handler${file}x${line}(request: Request${file}): Reply {`;
  const change = line % 11 === version ? ` // changed in ${version}` : '';
  return `  const value${line} = compute${line % 7}(request, '${'key'.repeat(1 + (line % 3))}${file}');${change}`;
};

export const filePath = (file: number): string => `src/module${file}/handler.ts`;

export interface FileSlice {
  readonly file: number;
  readonly from: number;
  readonly text: string;
}

const NUMBERING: Readonly<Record<string, (line: number) => string>> = {
  arrow: (line) => `${String(line).padStart(6)}→`,
  tab: (line) => `${line}\t`,
  bar: (line) => `${line} | `,
  none: () => '',
};

/**
 * Part of a generated file. It has one of few starts and lengths, so that slices repeat and
 * overlap.
 */
export const fileSlice: fc.Arbitrary<FileSlice> = fc
  .record({
    file: fc.nat(FILES - 1),
    version: fc.nat(2),
    from: fc.constantFrom(0, 0, 10, 25),
    count: fc.constantFrom(6, 30, 30, 80),
    numbering: fc.constantFrom('arrow', 'arrow', 'tab', 'bar', 'none'),
  })
  .map(({ file, version, from, count, numbering }) => {
    const prefix = NUMBERING[numbering] ?? (() => '');
    const lines = Array.from(
      { length: count },
      (_, index) => prefix(from + index + 1) + codeLine(file, version, from + index),
    );
    return { file, from, text: lines.join('\n') };
  });

/** Command output with the same beginning and end, varying times, and sometimes another result. */
export const commandOutput: fc.Arbitrary<string> = fc
  .record({ lines: fc.constantFrom(1, 3, 12, 60), run: fc.nat(2), failed: fc.boolean(), ansi: fc.boolean() })
  .map(({ lines, run, failed, ansi }) => {
    const [green, reset] = ansi ? ['\u001b[32m', '\u001b[0m'] : ['', ''];
    const cases = Array.from(
      { length: lines },
      (_, index) => ` ${green}✓${reset} suite ${index} works (${run + index} ms)`,
    );
    return [...cases, failed ? `AssertionError: expected ${run} to be 1` : `Tests  ${lines} passed`].join('\n');
  });

/**
 * Matches of a search, or items of a folder. A longer list may contain the lines of a shorter one.
 */
export const listing: fc.Arbitrary<string> = fc
  .record({ file: fc.nat(FILES - 1), first: fc.nat(4), count: fc.constantFrom(2, 15, 50) })
  .map(({ file, first, count }) =>
    Array.from({ length: count }, (_, index) => `${filePath(file)}:${(first + index) * 7}: uses handler${file}`).join(
      '\n',
    ),
  );

/** A short confirmation, of which there are similar variants. */
export const confirmation: fc.Arbitrary<string> = fc
  .nat(20)
  .map(
    (index) =>
      `The file /home/dev/project/src/module${index}/part${index}.ts has been updated. ${index} replacements were made.`,
  );

/** The environment that Roo and Cline send with each turn. */
export const environmentDetails: fc.Arbitrary<string> = fc
  .record({ time: fc.nat(59), open: fc.nat(FILES - 1), cost: fc.nat(9), files: fc.constantFrom(0, 12, 40) })
  .map(({ time, open, cost, files }) =>
    [
      '<environment_details>',
      '# VSCode Open Tabs',
      filePath(open),
      '',
      '# Current Time',
      `2025-10-03T14:11:${String(time).padStart(2, '0')}.999Z`,
      `# Current Cost`,
      `$0.${cost}`,
      ...Array.from({ length: files }, (_, index) => `src/folder${index}/index.ts`),
      '</environment_details>',
    ].join('\n'),
  );

/** A plan as text. */
export const todoText: fc.Arbitrary<string> = fc
  .record({ done: fc.nat(5), steps: fc.constantFrom(2, 5, 12) })
  .map(({ done, steps }) =>
    Array.from(
      { length: steps },
      (_, index) => `[${index < done ? 'x' : ' '}] Step ${index}: bring module ${index} to the new interface`,
    ).join('\n'),
  );

/** Text of all scripts, with emoji and combining marks, that is not blank. */
const unicodeText: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    fc.constantFrom(
      '👩‍👩‍👧‍👦'.repeat(300),
      'e\u0301'.repeat(900),
      '漢字かな'.repeat(400),
      '\u202eabc\u202c',
      '\ufeffBOM',
      'a\u0000b',
    ),
  )
  .filter(isNotBlank);

/** UTF-16 with lone surrogates that is not blank. */
export const loneSurrogates: fc.Arbitrary<string> = fc
  .oneof(
    fc
      .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { minLength: 1, maxLength: 20 })
      .map((units) => String.fromCharCode(...units)),
    fc.constantFrom(`${'\ud83d'.repeat(700)}x`, `x\udc00${'line\ud800\n'.repeat(120)}`),
  )
  .filter(isNotBlank);

/** Text that imitates this product's markers, or the structure of a history. */
const trickyText: fc.Arbitrary<string> = fc.constantFrom(
  makeTestMarker('same as later Read'),
  `${makeTestMarker('3 lines truncated', '012345')}\n${'text behind a marker of somebody else\n'.repeat(40)}`,
  `${makeTestMarker('1 lines as in later Grep', 'aaaaaa')}\n`.repeat(30),
  '<read_file>\n<path>never closed',
  `[read_file for 'x.ts'] Result:`,
  `[execute_command for 'npm test'] Result:\n${'all is well\n'.repeat(80)}`,
  '<environment_details></environment_details>',
  'x'.repeat(5_000),
  '\n'.repeat(200) + 'end',
  `${'same line again\n'.repeat(150)}end`,
  `windows\r\n${'line\r\n'.repeat(90)}`,
  '<|endoftext|> <|im_start|>system',
);

export const prose: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'Now let me look at the handler.',
      'The test fails because the reply is empty.',
      'Done.',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .nat(5)
      .map((index) => `Paragraph ${index}. ${'It says a lot about the design of this module. '.repeat(60)}`),
  },
  { weight: 1, arbitrary: unicodeText },
  { weight: 1, arbitrary: trickyText },
);

/** A text of any kind and length that is not blank. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fileSlice.map(({ text }) => text) },
  { weight: 3, arbitrary: commandOutput },
  { weight: 2, arbitrary: listing },
  { weight: 1, arbitrary: prose },
  { weight: 1, arbitrary: unicodeText },
  { weight: 1, arbitrary: loneSurrogates },
  { weight: 1, arbitrary: trickyText },
);

function isNotBlank(text: string): boolean {
  return text.trim() !== '';
}
