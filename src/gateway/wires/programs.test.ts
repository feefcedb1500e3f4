/** Results that a program reads must be unchanged, since a marker would break its parser. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../../test/support/inTemporaryFolder';
import { createCounter } from '../../core/testingCounter';
import { createTestBed } from '../../live/testing';
import { ParsedBody } from '../bodies';
import { LiveCondenser } from '../liveCondenser';
import { findKnownRequest } from './index';
import { makeRequestBody, PATH_BY_WIRE } from './testing';
import type { RequestBody } from './wire';

type Value = Record<string, unknown>;
type Wire = 'anthropic' | 'chat' | 'responses';

const recordsIn = (value: unknown): Value[] => {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(recordsIn);
  return Array.isArray(value) ? inner : [value as Value, ...inner];
};
/** The ID of a call or result on each wire. */
const callId = ({ type, id, call_id: called, function: fn }: Value): unknown =>
  type === 'tool_use' || fn !== undefined ? id : /_call$/.test(String(type)) ? called : undefined;
const resultId = ({ type, tool_use_id: anthropic, tool_call_id: chat, call_id: responses }: Value): unknown =>
  anthropic ?? chat ?? (/_output$/.test(String(type)) ? responses : undefined);

const CALLERS = [
  { type: 'program', id: 'p' },
  { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
];

/** Creates a body in which a program made the calls with these numbers. */
function withPrograms(wire: Wire, steps: number, programs: ReadonlySet<number>): [string, Set<unknown>] {
  const body = JSON.parse(makeRequestBody(wire, steps)) as Value;
  const ids = new Set<unknown>();
  for (const record of recordsIn(body)) {
    const id = callId(record);
    const step = Number(/\d+$/.exec(String(id))?.[0]);
    if (id === undefined || !programs.has(step % 7)) continue;
    record['caller'] = CALLERS[step % CALLERS.length];
    ids.add(id);
  }
  return [JSON.stringify(body), ids];
}

const listResults = (text: string, ids: ReadonlySet<unknown>): string[] =>
  recordsIn(JSON.parse(text))
    .filter((record) => ids.has(resultId(record)))
    .map((record) => JSON.stringify(record));

describe.each<Wire>(['anthropic', 'chat', 'responses'])('server-side programs in the API format %s', (wire) => {
  it.each(['lossless', 'truncation'])('keep their results byte for byte, whatever %s removes', (provider) =>
    fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 5 }), (programs) =>
        inTemporaryFolder(async (root) => {
          const { live } = createTestBed(root, { settings: { provider } });
          const condenser = new LiveCondenser({
            live,
            counter: createCounter(),
            addresses: new Map([['a', new URL('http://127.0.0.1:1')]]),
            window: 12_000,
          });
          const recognized = findKnownRequest('POST', PATH_BY_WIRE[wire])!;
          let isShorter = false;
          for (const steps of [8, 20, 30]) {
            const [text, ids] = withPrograms(wire, steps, new Set(programs));
            const read = new ParsedBody(Buffer.from(text), JSON.parse(text) as RequestBody, recognized.wire.list);
            const call = { route: 'a', address: new URL('http://127.0.0.1:1'), recognized, headers: {}, read };
            const sent = (await condenser.prepare(call, new AbortController().signal))?.bytes?.toString();
            isShorter ||= sent !== undefined && sent.length < text.length;
            expect(ids.size).toBeGreaterThan(0);
            expect(listResults(sent ?? text, ids)).toEqual(listResults(text, ids));
          }
          expect(isShorter).toBe(true);
          live.dispose();
          await live.waitUntilSettled();
        }),
      ),
      { numRuns: 6 },
    ),
  );

  it('have results that do not count as context', () => {
    const counter = createCounter();
    const recognized = findKnownRequest('POST', PATH_BY_WIRE[wire])!;
    const tokens = (text: string): number =>
      counter.countMessages(recognized.wire.read(JSON.parse(text) as RequestBody)!.messages);
    const all = new Set([0, 1, 2, 3, 4, 5, 6]);
    expect(tokens(withPrograms(wire, 10, all)[0])).toBeLessThan(tokens(makeRequestBody(wire, 10)) / 3);
  });
});
