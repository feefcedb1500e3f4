import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  makeToolUse,
  makeOtherRecord,
  result,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { checkConversation } from '../../../core/messages/firewall';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { readRecords } from './testing';

describe('a generated Claude Code session', () => {
  interface Turn {
    readonly calls: number;
    readonly thinks: boolean;
    readonly chained: boolean;
    readonly order: 'asked' | 'reversed';
    readonly lost: number;
    readonly noise: boolean;
  }
  const turn: fc.Arbitrary<Turn> = fc.record({
    calls: fc.nat({ max: 4 }),
    thinks: fc.boolean(),
    chained: fc.boolean(),
    order: fc.constantFrom('asked', 'reversed'),
    lost: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat({ max: 2 })),
    noise: fc.boolean(),
  });

  /**
   * Creates a session both as the API saw it and as Claude Code writes it: with a line per block,
   * and with results linked to their own call.
   */
  function session(turns: readonly Turn[]): { sent: ApiMessage[]; records: Fields[] } {
    const sent: ApiMessage[] = [{ role: 'user', content: 'the task' }];
    const records = [user('u', null, 'the task')];
    let leaf = 'u';
    turns.forEach(({ calls, thinks, chained, order, lost, noise }, n) => {
      const ids = Array.from({ length: calls }, (_, i) => `t${n}_${i}`);
      const blocks = [
        ...(thinks ? [{ type: 'thinking', thinking: 'hm', signature: 's' }] : []),
        makeTextBlock(`turn ${n}`),
        ...ids.map((id) => makeToolUse(id)),
      ];
      const parents = new Map<string, string>();
      const answered = ids.slice(0, ids.length - Math.min(lost, ids.length));
      const results: Fields[] = [];
      blocks.forEach((block, i) => {
        const uuid = `a${n}_${i}`;
        records.push(assistant(uuid, leaf, `m${n}`, block));
        if (block['type'] === 'tool_use') parents.set(String(block['id']), uuid);
        leaf = uuid;
        // A call can be answered while the message is still being streamed.
        if (chained && answered.includes(String(block['id']))) {
          records.push(user(`r${String(block['id'])}`, leaf, [result(String(block['id']))]));
          if (noise) leaf = `r${String(block['id'])}`;
        }
      });
      if (noise) records.push(makeOtherRecord('progress', `p${n}`, leaf));
      for (const id of order === 'asked' ? answered : answered.toReversed()) {
        results.push(result(id));
        if (!chained) records.push(user(`r${id}`, parents.get(id) ?? null, [result(id)]));
        leaf = chained ? leaf : `r${id}`;
      }
      const last = answered.at(-1);
      if (chained && last !== undefined) leaf = `r${last}`;
      sent.push({ role: 'assistant', content: blocks as unknown as Block[] });
      if (results.length > 0) sent.push({ role: 'user', content: results as unknown as Block[] });
      if (results.length === 0) {
        records.push(user(`u${n}`, leaf, `go on ${n}`));
        sent.push({ role: 'user', content: `go on ${n}` });
        leaf = `u${n}`;
      }
    });
    return { sent, records };
  }

  const sortedIds = (messages: readonly ApiMessage[]) =>
    messages.map(({ role, content }) => [
      role,
      typeof content === 'string' ? content : content.map((block) => JSON.stringify(block)).sort(),
    ]);

  it('is read as it was sent', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 6 }), (turns) => {
        const { sent, records } = session(turns);
        expect(sortedIds(readRecords(records).messages)).toEqual(sortedIds(sent));
      }),
    );
  });

  it('has no more violations after the records of one message are joined than before', () => {
    // Appends a message, since an open call in the last message is no violation, and joining may
    // change which message is last.
    const violations = (messages: readonly ApiMessage[]) =>
      checkConversation([...messages, { role: 'user', content: 'end' }]);
    const line = fc.record({
      kind: fc.constantFrom('text', 'call', 'result', 'user', 'progress'),
      message: fc.nat({ max: 3 }),
      tool: fc.nat({ max: 10 }),
    });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 12 }), (lines) => {
        // The API never repeats call IDs. A result may name any call, even none or one that has a
        // result already.
        const callBefore = (n: number, tool: number): string => {
          const callLines = lines.flatMap(({ kind }, at) => (kind === 'call' && at < n ? [at] : []));
          return `t${callLines[tool % (callLines.length + 1)] ?? 'none'}`;
        };
        const records = lines.map(({ kind, message, tool }, n) => {
          const above = n === 0 ? null : `r${n - 1}`;
          const uuid = `r${n}`;
          if (kind === 'text') return assistant(uuid, above, `m${message}`, makeTextBlock(`words ${n}`));
          if (kind === 'call') return assistant(uuid, above, `m${message}`, makeToolUse(`t${n}`));
          if (kind === 'result') return user(uuid, above, [result(callBefore(n, tool))]);
          return kind === 'user' ? user(uuid, above, `say ${n}`) : makeOtherRecord('progress', uuid, above);
        });
        fc.pre(records.some((record) => 'message' in record));
        const conversation = readRecords(records);
        // For comparison, makes each of the same records a message of its own.
        const raw = records.flatMap(({ message }) => (message ? [message as ApiMessage] : []));
        expect(violations(conversation.messages).length).toBeLessThanOrEqual(violations(raw).length);
      }),
    );
  });
});
