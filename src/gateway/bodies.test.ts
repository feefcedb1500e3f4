import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ParsedBodyCache, ParsedBody } from './bodies';

const of = (text: string): Buffer => Buffer.from(text);

function whole(bytes: Buffer, list = 'messages') {
  const read = new ParsedBodyCache().parseBody(bytes, list);
  return read && { body: read.body, ends: read.ends, before: read.before };
}

const json = fc.json({ maxDepth: 3 }).map((text) => text.replace(/^/, ' '));
const name = fc.constantFrom('model', 'tools', 'messages', 'm\\u0065ssages', 'é', '__proto__', 'stream');

const member =
  (space: string) =>
  ([key, value]: readonly [string, string]): string =>
    `"${key}"${space}:${value}`;

/**
 * Bodies of one conversation, which grow, change in the middle, and have duplicate keys, white
 * space and characters of every length.
 */
const conversation = fc
  .record({
    before: fc.array(fc.tuple(name, json), { maxLength: 3 }),
    elements: fc.array(json, { maxLength: 6 }),
    steps: fc.array(
      fc.record({
        count: fc.nat(6),
        behind: fc.array(fc.tuple(name, json), { maxLength: 2 }),
        changed: fc.option(fc.tuple(fc.nat(5), json)),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    space: fc.constantFrom('', ' ', '\n'),
  })
  .map(({ before, elements, steps, space }) =>
    steps.map(({ count, behind, changed }) => {
      const now = elements.map((element, at) => (changed?.[0] === at ? changed[1] : element)).slice(0, count);
      const list = `"messages":${space}[${space}${now.join(`${space},`)}${space}]`;
      return `{${[...before.map(member(space)), list, ...behind.map(member(space))].join(',')}${space}}`;
    }),
  );

describe('request bodies that begin with the same bytes', () => {
  it('are parsed as if each were the first', () => {
    fc.assert(
      fc.property(conversation, fc.nat(), fc.nat(), (bodies, cut, at) => {
        const known = new ParsedBodyCache();
        const [first = ''] = bodies;
        // The bodies include invalid JSON and invalid UTF-8.
        const broken = of(first.slice(0, cut % (first.length + 1)) + first.slice(at % (first.length + 1)));
        const odd = Buffer.from(of(first));
        if (odd.length > 0) odd[at % odd.length] = 0xff;
        for (const bytes of [...bodies.map(of), broken, odd, ...bodies.map(of)]) {
          const read = known.parseBody(bytes, 'messages');
          expect(read && { body: read.body, ends: read.ends, before: read.before }).toEqual(whole(bytes));
          if (read) expect(read.body).toEqual(JSON.parse(bytes.toString()));
        }
      }),
    );
  });

  it('are parsed only from the first difference on', () => {
    const element = (at: number): string => JSON.stringify({ role: 'user', content: `${at} é ${'x'.repeat(100)}` });
    const text = (count: number): Buffer =>
      of(`{"model":"m","messages":[${Array.from({ length: count }, (_, at) => element(at)).join(',')}],"stream":true}`);
    const known = new ParsedBodyCache();
    known.parseBody(text(50), 'messages');
    const parsed = vi.spyOn(JSON, 'parse');
    try {
      const read = known.parseBody(text(52), 'messages');
      expect(Math.max(...parsed.mock.calls.map(([source]) => source.length))).toBeLessThan(600);
      expect((read?.body['messages'] as unknown[]).length).toBe(52);
    } finally {
      parsed.mockRestore();
    }
  });

  it('have the end of each element of the message list as a byte offset', () => {
    const text = '{"messages":["é",  {"a":[1,2]} ,3]}';
    const { ends } = new ParsedBody(of(text), JSON.parse(text) as Record<string, unknown>, 'messages');
    expect(ends.map((end) => of(text).subarray(0, end).toString())).toEqual([
      '{"messages":["é"',
      '{"messages":["é",  {"a":[1,2]}',
      '{"messages":["é",  {"a":[1,2]} ,3',
    ]);
  });
});
