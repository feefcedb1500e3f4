import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiMessage, ContentPlace } from '../../../messages/types';
import { makeAnsweredExchange, assistant, listCuts, makeToolExchange, user } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import { Draft } from '../../draft/draft';
import { DEFAULT_TOOLS } from '../../../messages/tools';
import type { ContentItem } from './items';
import { FEATURE_WEIGHTS } from '../../relevance/weights';
import { pruneItems } from './prune';
import { expandMarkers, findMarkers, MARKER_START } from '../../../messages/markers';

const counter = createCounter();

const body = (name: string): string =>
  [`func ${name}() {`, ...Array.from({ length: 12 }, (_, at) => `\t${name}Call${at}("argument of ${name}")`), '}'].join(
    '\n',
  );
const FILE = ['package cli', '', body('setup'), '', body('teardown'), '', body('migrate')].join('\n');
const numbered = (text: string): string =>
  text
    .split('\n')
    .map((line, at) => `${at + 1}→${line}`)
    .join('\n');

const read = (id: string, path: string, content: string): ApiMessage[] =>
  makeToolExchange(id, 'Read', { file_path: path }, content);
const bash = (id: string, output: string): ApiMessage[] =>
  makeToolExchange(id, 'Bash', { command: `run ${id}` }, output);

const isRead = ({ exchange: made }: ContentItem): boolean => made?.tool === 'Read';

/** @param less tokens that must be removed; undefined: there is no target */
async function prune(
  messages: readonly ApiMessage[],
  less: number | undefined,
  isWanted: (item: ContentItem) => boolean = () => true,
): Promise<Draft> {
  const draft = new Draft(messages, counter);
  const targetTokens = less === undefined ? undefined : draft.tokens - less;
  await pruneItems('Prune', draft, { tools: DEFAULT_TOOLS, targetTokens, weights: FEATURE_WEIGHTS }, isWanted);
  return draft;
}

const resultAt = (draft: Draft, message: number): string => draft.getText({ message, path: ['content', 0, 'content'] });
const isWhole = (draft: Draft, message: number): boolean => !resultAt(draft, message).includes(MARKER_START);

describe('the prune operation', () => {
  it('gives the same result whatever was pruned before with other targets, items or edits', async () => {
    const messages = [
      user('Rewrite migrate: migrateCall3 must not run twice.'),
      ...read('1', '/p/a.go', numbered(FILE)),
      ...bash('2', body('teardown')),
      ...read('3', '/p/b.go', numbered(FILE.replaceAll('setup', 'prepare'))),
    ];
    const everything = (): boolean => true;
    for (const [less, isWanted] of [
      [100, everything],
      [300, everything],
      [200, isRead],
      [100, everything],
    ] as const) {
      const { edits } = await prune(messages, less, isWanted);
      expect(edits).not.toEqual([]);
      expect(edits).toEqual((await prune(structuredClone(messages), less, isWanted)).edits);
    }
    const draft = await prune(messages, 100);
    const again = { tools: DEFAULT_TOOLS, targetTokens: draft.tokens - 150, weights: FEATURE_WEIGHTS };
    await pruneItems('Prune', draft, again, everything);
    const other = await prune(structuredClone(messages), 100);
    await pruneItems('Prune', other, again, everything);
    expect(draft.edits).toEqual(other.edits);
  });

  it('removes the blocks least relevant to the conversation, and no more than the target requires', async () => {
    const messages = [
      user('Rewrite migrate: migrateCall3 must not run twice.'),
      ...read('1', '/p/a.go', numbered(FILE)),
    ];
    const draft = await prune(messages, 100);
    expect(draft.tokens).toBeLessThanOrEqual(counter.countMessages(messages) - 100);
    const text = resultAt(draft, 2);
    expect(text).toContain('migrateCall3');
    expect(text).toMatch(new RegExp(`${MARKER_START} lines \\d+-\\d+`));
    expect(text).toMatch(/(?:setup|teardown)Call3/);
  });

  it('removes the chosen blocks of a call written as text even if words before it are removed', async () => {
    const words = 'I write the next part of it now, as it was agreed on, and then look at what the tests say of it. '
      .repeat(3)
      .trim();
    const call = (name: string): string =>
      [
        '<write_to_file>',
        `<path>${name}.go</path>`,
        '<content>',
        body(name),
        '</content>',
        '<line_count>' + '12 '.repeat(200) + '</line_count>',
        '</write_to_file>',
      ].join('\n');
    const names = ['setup', 'teardown', 'migrate', 'prepare'];
    const messages = [
      user('Write them.'),
      ...names.flatMap((name) => [
        assistant({ type: 'text', text: `${words}\n\n${call(name)}` }),
        user(`[write_to_file for '${name}.go'] Result:\nThe content was saved.`),
      ]),
    ];
    const draft = await prune(messages, counter.countMessages(messages));
    for (const [at, name] of names.entries()) {
      const text = draft.getText({ message: 1 + 2 * at, path: ['content', 0, 'text'] });
      const mark = `${MARKER_START}[^\\n]+`;
      expect(text).toMatch(
        new RegExp(
          `^${mark}\\n\\n<write_to_file>\\n<path>${name}.go</path>\\n<content>\\n${mark}\\n</content>\\n<line_count>.*</line_count>\\n</write_to_file>$`,
        ),
      );
    }
  });

  it('joins adjacent blocks and states their line numbers', async () => {
    const draft = await prune([user('Task.'), ...read('1', '/p/a.go', numbered(FILE))], 400);
    expect(resultAt(draft, 2)).toMatch(new RegExp(`^${MARKER_START} lines 1-46[:;·]? `));
  });

  it('removes outputs of commands before files', async () => {
    const other = FILE.replace(/setup|teardown|migrate/g, 'other');
    const messages = [
      user('Look at b.go.'),
      ...read('1', '/p/a.go', other),
      ...read('2', '/p/b.go', other.replace(/other/g, 'thing')),
      ...bash('3', other.replace(/other/g, 'shown')),
      assistant('Done.'),
    ];
    const size = counter.countText(other);
    const once = await prune(messages, size / 2);
    expect([2, 4, 6].filter((message) => !isWhole(once, message))).toEqual([6]);
  });

  it('keeps what the agent recalled in the last turns, and treats it like other results in later turns', async () => {
    const recalled = makeToolExchange(
      '1',
      'recall',
      { references: ['abcdef'] },
      `[ref abcdef: result of Bash make]\n${FILE}`,
    );
    const messages = [user('Task.'), ...bash('0', FILE), ...recalled];
    const turns = Array.from({ length: 5 }, (_, turn) => bash(`t${turn}`, 'ok')).flat();
    const fresh = await prune([...messages, ...turns], 1.5 * counter.countText(FILE));
    expect([2, 4].map((message) => isWhole(fresh, message))).toEqual([false, true]);
    const old = await prune([...messages, ...turns, ...bash('t5', 'ok')], 1.5 * counter.countText(FILE));
    expect([2, 4].map((message) => isWhole(old, message))).toEqual([false, false]);
  });

  it('removes the text of an edit but not the name of its file', async () => {
    const messages = [
      user('Task.'),
      ...makeToolExchange('1', 'Write', { file_path: '/p/a.go', content: FILE }, 'done'),
      assistant('Done.'),
    ];
    const draft = await prune(messages, 300);
    expect(draft.messages[1]?.content).toMatchObject([{ input: { file_path: '/p/a.go' } }]);
    expect(draft.getText({ message: 1, path: ['content', 0, 'input', 'content'] })).toContain(MARKER_START);
  });

  it('removes the oldest of the agent’s own words only if more than half of the calls must go', async () => {
    const words = (about: string): string => `I looked at ${about}. `.repeat(20).trim();
    const messages = [
      user('Task.'),
      ...read('1', '/p/a.go', FILE),
      assistant(words('a.go')),
      user(words('what I want')),
      ...read('2', '/p/b.go', FILE),
      ...read('3', '/p/c.go', FILE),
      assistant(words('c.go')),
    ];
    const [first, people, last] = [3, 4, 9] as const;
    const size = 3 * counter.countText(FILE);
    const isWhole = (draft: Draft, message: number): boolean => draft.messages[message] === messages[message];
    const some = await prune(messages, 0.4 * size);
    expect([first, people, last].every((message) => isWhole(some, message))).toBe(true);
    const much = await prune(messages, 0.7 * size);
    expect(isWhole(much, first)).toBe(false);
    expect([people, last].every((message) => isWhole(much, message))).toBe(true);
    expect(much.tokens).toBeLessThanOrEqual(counter.countMessages(messages) - 0.7 * size);
    expect([2, 6, 8].some((message) => resultAt(much, message).includes('Call3'))).toBe(true);
    // Markers make the gain smaller than estimated. The same run, not the next, removes what is
    // still too much.
    const nearlyAll = await prune(messages.slice(4), (2 / 3) * 0.99 * size);
    const target = counter.countMessages(messages.slice(4)) - (2 / 3) * 0.99 * size;
    expect((await prune(nearlyAll.messages, nearlyAll.tokens - target)).edits).toEqual([]);
  });

  it('treats subagents’ reports like the agent’s own words, but keeps a person’s words next to them', async () => {
    const report = `<task-notification>\n<result>${'It works. '.repeat(60)}</result>\n</task-notification>`;
    const messages = [
      user('Task.'),
      assistant('I ask.'),
      user(report),
      assistant('Good.'),
      user(`${report}\nAnd do not touch the tests.`),
      ...read('1', '/p/a.go', FILE),
      assistant('Done.'),
    ];
    const size = counter.countText(FILE);
    const isWhole = (draft: Draft, message: number): boolean => draft.messages[message] === messages[message];
    expect(isWhole(await prune(messages, 0.3 * size), 2)).toBe(true);
    const much = await prune(messages, 1.1 * size);
    expect([isWhole(much, 2), isWhole(much, 4)]).toEqual([false, true]);
  });

  it('keeps protected content and a person’s words in a result, and does nothing without a target', async () => {
    const words = 'The user said:\nKeep the old name of migrate.';
    const refused = makeAnsweredExchange(
      '1',
      'Edit',
      { file_path: '/p/a.go', old_string: 'x' },
      `The user doesn't want to proceed with this tool use.\n${FILE}\nthe user said:\n${words}`,
    );
    const messages = [user('Task.'), ...refused, ...read('2', '/p/b.go', FILE), assistant('Done.')];
    expect(resultAt(await prune(messages, 10_000), 2)).toContain(words);
    expect(isWhole(await prune(messages, 10_000, isRead), 2)).toBe(true);
    expect((await prune(messages, undefined)).edits).toEqual([]);
    expect((await prune(messages, 0)).edits).toEqual([]);
    expect((await prune(messages, 100, () => false)).edits).toEqual([]);
  });
});

describe('errors in pruned output', () => {
  const noise = (about: string): string =>
    Array.from({ length: 40 }, (_, at) => `  compiling ${about} part ${at} of many`).join('\n');
  const failing = (line: string): string => `${noise('before')}\n${line}\n${noise('behind')}`;
  const texts = (draft: Draft): string => draft.messages.map((_, at) => JSON.stringify(draft.messages[at])).join('\n');
  const places = (text: string, line: string): number => text.split(line).length - 1;
  const pad = (): ApiMessage[] => Array.from({ length: 7 }, (_, turn) => bash(`t${turn}`, 'ok')).flat();

  it('stay before the marker, each error once, at its last place', async () => {
    const line = 'src/a.ts(3,7): error TS2322: Type string is not assignable.';
    const task = user(`Task. ${'The rest of it. '.repeat(1_000)}`);
    const messages = [task, ...bash('1', failing(line)), ...bash('2', failing(line)), ...pad(), user('Go on.')];
    const size = 2 * counter.countText(failing(line));
    const draft = await prune(messages, 0.8 * size);
    expect([2, 4].map((message) => isWhole(draft, message))).toEqual([false, false]);
    expect(places(texts(draft), line)).toBe(1);
    expect(resultAt(draft, 4)).toMatch(new RegExp(`^\\s*src/a\\.ts.*\n${MARKER_START} \\d+ lines`));
    // Lines about errors inside a file are code.
    const file = [task, ...read('1', '/p/a.ts', failing(line)), ...pad(), user('Go on.')];
    expect(texts(await prune(file, 0.4 * size))).not.toContain(line);
  });

  it('stay up to a fiftieth of the target, newest first, unless the target would be missed', async () => {
    const lines = Array.from(
      { length: 40 },
      (_, at) => `error: number ${at} of the build is ${'quite long '.repeat(8)}`,
    );
    const messages = [
      user('Task.'),
      ...lines.flatMap((line, at) => bash(`e${at}`, failing(line))),
      ...pad(),
      user('On.'),
    ];
    const size = counter.countMessages(messages);
    const target = Math.floor(0.3 * size);
    const draft = await prune(messages, size - target);
    // Lists the lines that were cut, and whether the cut's text still contains them.
    const gone = listCuts(draft.edits).flatMap(({ place, cuts }) => {
      const [line = '', original] = [lines[place.message / 2 - 1], new Draft(messages, counter).getText(place)];
      const at = original.indexOf(line);
      return cuts.flatMap(({ start, end, text }) =>
        at >= start && at < end ? [{ message: place.message, line, isKept: text.includes(line.trim()) }] : [],
      );
    });
    gone.sort((a, b) => a.message - b.message);
    const kept = gone.filter(({ isKept }) => isKept);
    expect(kept.length).toBeGreaterThan(1);
    expect(kept.length).toBeLessThan(gone.length);
    expect(kept).toEqual(gone.slice(-kept.length));
    expect(counter.countText(kept.map(({ line }) => line).join('\n'))).toBeLessThanOrEqual(0.02 * target);
    expect(draft.tokens).toBeLessThanOrEqual(target);
    const least = (await prune(messages, size)).tokens;
    expect((await prune(messages, size - least)).tokens).toBe(least);
    expect(texts(await prune(messages, size))).not.toContain('error: number');
  });
});

describe('the marker of pruned file lines', () => {
  /**
   * Returns what a draft's markers say after the number of their lines, each with the text that it
   * replaces.
   */
  const listMarkerTexts = (draft: Draft): { names: string[]; slice: string; place: ContentPlace }[] =>
    listCuts(draft.edits).flatMap(({ place, cuts }) =>
      cuts.flatMap(({ start, end, text }) => {
        const [, names] = /(?:lines \d+-\d+|\d+ \w+ left out): (.*?)(?: and \d+ more)?(?:; never.*)?$/.exec(
          findMarkers(text)[0]?.what ?? '',
        ) ?? ['', undefined];
        const slice = new Draft(draft.original, counter).getText(place).slice(start, end);
        return names === undefined ? [] : [{ names: names.split(', '), slice, place }];
      }),
    );

  it('names the declarations in them, with line numbers if known', async () => {
    const bodies = ['first', 'second', 'third', 'fourth', 'fifth'].map(body).join('\n\n');
    const sed = makeToolExchange('2', 'Bash', { command: "sed -n '40,120p' /p/b.go" }, bodies);
    const messages = [
      user('Task.'),
      ...read('1', '/p/a.go', numbered(bodies)),
      ...sed,
      ...read('3', '/p/c.go', bodies),
    ];
    const draft = await prune([...messages, assistant('Done.')], 0.45 * 3 * counter.countText(bodies));
    const names = listMarkerTexts(draft).flatMap(({ names, place }) => names.map((name) => [place.message, name]));
    const at = Object.entries({ first: 0, second: 15, third: 30, fourth: 45, fifth: 60 });
    const possible = at.flatMap(([name, line]) => [
      [2, `${name} ${line + 1}`],
      [4, `${name} ${line + 40}`],
      [6, name],
    ]);
    expect(names.length).toBeGreaterThan(3);
    expect(possible).toEqual(expect.arrayContaining(names));
    expect(new Set(names.map(([message]) => message)).size).toBeGreaterThan(1);
  });

  it('names nothing for outputs of commands, or if nearly everything must go', async () => {
    const bodies = ['first', 'second', 'third'].map(body).join('\n\n');
    const messages = [user('Task.'), ...bash('1', bodies), ...read('2', '/p/a.go', bodies), assistant('Done.')];
    const size = counter.countText(bodies);
    expect(listMarkerTexts(await prune(messages, 0.8 * size)).map(({ place }) => place.message)).not.toContain(2);
    expect(listMarkerTexts(await prune(messages, 1.97 * size))).toEqual([]);
  });

  it('names existing lines, can be expanded, and meets the target in one run', async () => {
    const name = fc.stringMatching(/^[a-zé_][\wé]{1,50}$/u);
    const file = fc.record({
      functions: fc.uniqueArray(fc.record({ name, lines: fc.integer({ min: 1, max: 25 }) }), {
        selector: (made) => made.name.slice(0, 40),
        minLength: 1,
        maxLength: 12,
      }),
      form: fc.constantFrom('numbered', 'plain', 'printed'),
    });
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 5 }),
        fc.double({ min: 0.05, max: 0.6, noNaN: true }),
        async (files, share) => {
          const texts = files.map(({ functions }) =>
            functions
              .map(({ name, lines }) =>
                [
                  `func ${name}() {`,
                  ...Array.from({ length: lines }, (_, at) => `\tcall${at}("of ${name}")`),
                  '}',
                  '',
                ].join('\n'),
              )
              .join('\n'),
          );
          const messages = [
            user('Task.'),
            ...files.flatMap(({ form }, at) => {
              const [text = '', path] = [texts[at], `/p/f${at}.go`];
              const lines = text.split('\n');
              if (form === 'printed')
                return makeToolExchange(`i${at}`, 'Bash', { command: `sed -n '5,${lines.length + 4}p' ${path}` }, text);
              return read(`i${at}`, path, form === 'numbered' ? numbered(text) : text);
            }),
            assistant('Done.'),
          ];
          const less = share * counter.countMessages(messages);
          const draft = await prune(messages, less);
          for (const { names, slice, place } of listMarkerTexts(draft)) {
            const at = place.message / 2 - 1;
            const first = files[at]?.form === 'printed' ? 5 : 1;
            for (const words of names) {
              const [, own = '', number] = /^(\S+?)(?: (\d+))?$/u.exec(words) ?? [];
              expect(slice).toContain(`func ${own}`);
              if (number === undefined) continue;
              expect(texts[at]?.split('\n')[Number(number) - first]).toMatch(`func ${own}`);
              count++;
            }
          }
          for (const { place, cuts } of listCuts(draft.edits)) {
            const original = new Draft(messages, counter).getText(place);
            const slices = new Map(cuts.map((cut) => [cut.reference, original.slice(cut.start, cut.end)]));
            expect(expandMarkers(draft.getText(place), (reference) => slices.get(reference))).toBe(original);
          }
          const again = new Draft(messages, counter, draft.edits);
          const target = {
            tools: DEFAULT_TOOLS,
            targetTokens: new Draft(messages, counter).tokens - less,
            weights: FEATURE_WEIGHTS,
          };
          await pruneItems('Prune', again, target, () => true);
          expect(again.edits).toEqual([]);
        },
      ),
    );
    expect(count).toBeGreaterThan(0);
  });
});
