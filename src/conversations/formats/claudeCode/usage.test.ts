import { describe, expect, it } from 'vitest';
import type { RecordedRequest } from '../../../core/account/recordedRequest';
import { dropImplausibleUsage } from '../../../core/account/recordedRequest';
import { ClaudeRequests } from './usage';

type Fields = Readonly<Record<string, unknown>>;

const usage = (input: unknown, output: unknown, fields: Fields = {}): Fields => ({
  ...{ input_tokens: input, output_tokens: output, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  ...fields,
});
let count = 0;
const record = (type: 'user' | 'assistant', fields: Fields, message: Fields): Fields => {
  count += 1;
  return {
    ...{ type, uuid: `u${count}`, parentUuid: `u${count - 1}`, sessionId: 's', timestamp: '2026-02-01T12:00:00Z' },
    ...fields,
    message: { role: type, content: [], ...message },
  };
};
const answer = (ids: { readonly id?: string; readonly requestId?: string }, used: Fields | null | undefined): Fields =>
  record('assistant', ids.requestId === undefined ? {} : { requestId: ids.requestId }, {
    ...(ids.id !== undefined && { id: ids.id }),
    ...{ model: 'claude-sonnet-4-5', ...(used !== undefined && { usage: used }) },
  });
const prompt = (): Fields => record('user', {}, {});
const collect = (records: readonly Fields[]) => {
  const requests = new ClaudeRequests();
  for (const each of records) requests.takeRecord(each);
  const result = requests.getResult();
  return result && dropImplausibleUsage(result);
};
const tokens = (records: readonly Fields[]) =>
  collect(records)?.requests.map(({ usage: used }) => used && [used.inputTokens, used.outputTokens]);

describe('the usage of one Claude Code answer in several records', () => {
  const ids = { id: 'm', requestId: 'r' };
  it.each<[string, readonly (Fields | null | undefined)[]]>([
    ['grows', [usage(9, 1), usage(9, 1), usage(9, 50)]],
    ['is whole in the first', [usage(9, 50), usage(9, 1)]],
    ['is missing in the last', [usage(9, 1), usage(9, 50), undefined]],
    ['is null in the last', [usage(9, 50), null]],
    ['is zero in the last', [usage(9, 50), usage(0, 0)]],
    ['is zero in the first', [usage(0, 0), usage(9, 50)]],
    ['is no number in one of them', [usage(9, 50), usage(9, '50')]],
    ['is endless in one of them', [usage(9, 50), usage(9, Infinity)]],
  ])('is taken from the largest record if the usage %s', (_, usages) => {
    expect(tokens(usages.map((each) => answer(ids, each)))).toEqual([[9, 50]]);
  });
});

describe('Claude Code answers without IDs', () => {
  it('count as one request if no other message is between their records', () => {
    expect(tokens([prompt(), answer({}, usage(9, 1)), answer({}, usage(9, 5))])).toEqual([[9, 5]]);
  });

  it('count as two requests if a message is between them or their prompt sizes differ', () => {
    expect(tokens([answer({}, usage(9, 1)), prompt(), answer({}, usage(9, 1))])).toHaveLength(2);
    expect(tokens([answer({}, usage(9, 1)), answer({}, usage(10, 1))])).toHaveLength(2);
  });

  it("are identified by their record's ID, which copies of a session keep", () => {
    const [first] = collect([answer({}, usage(9, 1))])?.requests ?? [];
    expect(first?.key).toMatch(/^u\d+$/);
  });

  it('are identified by the request ID if they have no other ID', () => {
    const records = [answer({ requestId: 'r' }, usage(9, 1)), prompt(), answer({ requestId: 'r' }, usage(9, 4))];
    expect(tokens(records)).toEqual([[9, 4]]);
  });
});

it('an answer that was incomplete when its Claude Code session was copied is identified as in the original', () => {
  const keyOf = (used: Fields): RecordedRequest['key'] =>
    collect([answer({ id: 'm' }, used)])?.requests.map(({ key }) => key)[0];
  expect(keyOf(usage(9, 1))).toBe(keyOf(usage(9, 50)));
  expect(keyOf(usage(9, 1))).not.toBe(keyOf(usage(8, 1)));
});

describe('usage of zeros in a Claude Code session', () => {
  it('counts as missing if the server always reports zeros, so that the requests are estimated', () => {
    expect(collect([answer({ id: 'a' }, usage(0, 0)), answer({ id: 'b' }, usage(0, 0))])).toBeUndefined();
  });

  it('in a session given back to Claude Code means that the original session paid', () => {
    const titles = [
      { type: 'summary', summary: 'T', leafUuid: 'x' },
      { type: 'custom-title', customTitle: 'T', sessionId: 's' },
    ];
    expect(collect([...titles, answer({ id: 'a' }, usage(0, 0))])).toMatchObject({ requests: [], isComplete: true });
  });

  it('counts as real if it lists steps of a server-side compaction', () => {
    const step = { type: 'compaction', ...usage(7, 3) };
    expect(collect([answer({ id: 'a' }, usage(0, 0, { iterations: [step] }))])?.requests).toMatchObject([
      { parts: [{ usage: { inputTokens: 7, outputTokens: 3 } }] },
    ]);
  });
});

it.each<[string, unknown, unknown]>([
  ['a word', '12', [{ isOdd: true }]],
  ['endless', Infinity, [{ isOdd: true }]],
  ['negative', -5, [{ usage: { inputTokens: 0, outputTokens: 3 } }]],
  ['nothing', null, [{ usage: { inputTokens: 0, outputTokens: 3 } }]],
])(
  'a Claude Code request whose input tokens are %s is counted with the valid part of its usage',
  (_, input, expected) => {
    expect(collect([answer({ id: 'a' }, usage(input, 3))])?.requests).toMatchObject(expected as object[]);
  },
);
