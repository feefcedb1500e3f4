import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicFault } from '../../test/servers/anthropicRules';
import { anyHistory } from '../../test/generators/arbitraries';
import { assistant, call, result, text, user } from '../core/testing';
import type { ApiMessage, Block } from '../core/messages/types';
import { getBlocks, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import { MISSING_RESULT_TEXT, makeMessagesValid } from './tidyMessages';

describe('tool results in a chat history', () => {
  it("of one answer are joined in the order of its calls, before the user's words", () => {
    const tidy = makeMessagesValid([
      user(text('go')),
      assistant(call('a', 'x'), call('b', 'x')),
      user(result('b', 'two')),
      user(text('meanwhile')),
      user(result('a', 'one')),
    ]);
    expect(tidy.slice(2)).toEqual([user(result('a', 'one'), result('b', 'two')), user(text('meanwhile'))]);
  });

  it('are marked if missing, and become text if they have no call', () => {
    const tidy = makeMessagesValid([
      user(text('go'), result('gone', 'left over')),
      assistant(call('a', 'x')),
      assistant(text('on')),
      user(result('a', 'late'), result('z', [text('parts')])),
      assistant(call('b', 'x')),
    ]);
    const lost = (id: string): Block => result(id, MISSING_RESULT_TEXT, { is_error: true });
    expect(tidy).toEqual([
      user(text('go'), text('left over')),
      assistant(call('a', 'x')),
      user(lost('a')),
      assistant(text('on')),
      user(text('late'), text('parts')),
      assistant(call('b', 'x')),
      user(lost('b')),
    ]);
  });

  it('are matched to their calls despite duplicate or invalid IDs', () => {
    const turn = (answer: string): ApiMessage[] => [
      assistant(call('call:0', 'x', 'raw')),
      user(result('call:0', answer)),
    ];
    expect(makeMessagesValid([...turn('one'), ...turn('two')])).toEqual([
      assistant(call('call_0', 'x', { input: 'raw' })),
      user(result('call_0', 'one')),
      assistant(call('call_0_2', 'x', { input: 'raw' })),
      user(result('call_0_2', 'two')),
    ]);
    expect(makeMessagesValid([assistant(call('', 'x')), user(result('', 'one'))])[0]).toEqual(
      assistant(call('call', 'x')),
    );
  });
});

/**
 * Histories as they come from VS Code's message parts: texts, calls and results, none of them
 * blank, with any IDs.
 */
const chatHistory = anyHistory.map((messages) =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }): ApiMessage => {
      const blocks: readonly Block[] = typeof content === 'string' ? [text(content)] : content;
      return {
        role,
        content: blocks.flatMap((block): Block[] => {
          if (isText(block)) return block.text.trim() === '' ? [] : [text(block.text)];
          if (isToolUse(block))
            return role === 'assistant' ? [call(block.id, block.name === '' ? 'x' : block.name, block.input)] : [];
          if (isToolResult(block))
            return role === 'user'
              ? [result(block.tool_use_id, typeof block.content === 'string' ? block.content : '')]
              : [];
          return [];
        }),
      };
    }),
);

describe('any chat history after tidying', () => {
  it('is valid for the vendor', () => {
    fc.assert(
      fc.property(chatHistory, (history) => {
        const messages = makeMessagesValid([user(text('the task')), ...history, user(text('go on'))]);
        const body = { model: 'm', max_tokens: 1, messages, tools: [{ name: 'x', input_schema: {} }] };
        expect(anthropicFault(body, { sign: () => '' })).toBeUndefined();
      }),
    );
  });

  it('keeps its beginning byte for byte as turns are added, and loses no words', () => {
    fc.assert(
      fc.property(chatHistory, fc.nat(), (history, cut) => {
        const whole = [user(text('the task')), ...history];
        const ends = whole.flatMap(({ role }, index) =>
          role === 'user' && whole[index + 1]?.role !== 'user' ? [index + 1] : [],
        );
        const end = ends[cut % ends.length]!;
        const before = makeMessagesValid(whole.slice(0, end));
        const after = makeMessagesValid(whole);
        expect(JSON.stringify(after.slice(0, before.length))).toBe(JSON.stringify(before));
        const words = (messages: readonly ApiMessage[]): string[] =>
          messages.flatMap((message) =>
            getBlocks(message).flatMap((block) =>
              isText(block)
                ? [block.text]
                : isToolResult(block) && typeof block.content === 'string' && block.content.trim() !== ''
                  ? [block.content]
                  : [],
            ),
          );
        const kept = new Set(words(after));
        expect(words(whole).filter((word) => !kept.has(word))).toEqual([]);
      }),
    );
  });
});
