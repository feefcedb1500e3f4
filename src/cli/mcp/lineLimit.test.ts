import fc from 'fast-check';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { LineLengthLimiter } from './lineLimit';

async function through(pieces: readonly Buffer[]): Promise<{ passed: string; answers: string }> {
  const answered = new PassThrough();
  const limit = new LineLengthLimiter(answered);
  const passing = limit.toArray() as Promise<Buffer[]>;
  for (const piece of pieces) limit.write(piece);
  limit.end();
  const passed = Buffer.concat(await passing).toString();
  answered.end();
  return { passed, answers: Buffer.concat((await answered.toArray()) as Buffer[]).toString() };
}

it('the MCP server passes on lines within the limit unchanged, in whatever chunks they arrive', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.nat(30)), async (lines, cuts) => {
      const text = lines.map((line) => `${line.replaceAll('\n', ' ')}\n`).join('');
      const bytes = Buffer.from(text);
      const pieces: Buffer[] = [];
      let from = 0;
      for (const cut of cuts) {
        pieces.push(bytes.subarray(from, from + cut));
        from += cut;
      }
      pieces.push(bytes.subarray(from));
      expect(await through(pieces)).toEqual({ passed: bytes.toString(), answers: '' });
    }),
  ));

it.each(['7', '"seven"', 'null'])(
  'the MCP server answers a line above the limit with an error for its ID: %s',
  async (id) => {
    const filler = Buffer.alloc(100_000, 'x');
    const before = '{"jsonrpc":"2.0","id":1}\n';
    const pieces = [
      Buffer.from(`${before}{"jsonrpc":"2.0",${id === 'null' ? '' : `"id":${id},`}"method":"ping","params":{"a":"`),
      ...Array.from({ length: 30 }, () => filler),
      Buffer.from(`"}}\n${before}`),
    ];
    const { passed, answers } = await through(pieces);
    expect(passed).toBe(before + before);
    expect(JSON.parse(answers)).toMatchObject({
      id: JSON.parse(id) as unknown,
      error: { code: -32_600, message: expect.stringContaining('1,048,576 bytes') },
    });
  },
);
