/**
 * Conversation histories for property tests. APIs accept every `validHistory`; `anyHistory`
 * includes what agents store after crashes, interruptions and bugs.
 */
import fc from 'fast-check';
import type { ApiMessage, Block } from '../../src/core/messages/types';
import { environmentDetails, loneSurrogates, prose } from './arbitraryTexts';
import { damaged } from './arbitraryDamage';
import { isServerBlock, turn, withServerIds, type Turn } from './arbitraryTurns';

const asBlocks = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** Returns additional fields, as agents store them with messages. */
const messageFields = (index: number): Readonly<Record<string, unknown>> =>
  index % 3 === 0 ? { ts: 1_759_500_692_886 + index, 'x-agent': { turn: index } } : {};

function assemble(task: string | readonly Block[], turns: readonly Turn[], isOpen: boolean): ApiMessage[] {
  const messages: ApiMessage[] = [];
  let calls = 0;
  const addMessage = (role: ApiMessage['role'], content: string | readonly Block[]): void => {
    if (content.length > 0) messages.push({ role, content, ...messageFields(messages.length) });
  };
  addMessage('user', task);
  for (const [number, each] of turns.entries()) {
    if (each.kind !== 'calls') {
      const assistantContent = each.assistant;
      addMessage(
        'assistant',
        typeof assistantContent === 'string' ? assistantContent : withServerIds(assistantContent, number),
      );
      addMessage('user', each.user);
      continue;
    }
    const ids = each.calls.map(() => `toolu_${String(calls++).padStart(4, '0')}`);
    const toolUses = each.calls.map(({ tool, input }, index): Block => ({
      type: 'tool_use',
      id: ids[index] ?? '',
      name: tool,
      input,
    }));
    const results = each.calls.map(({ content, isError }, index): Block => {
      const contentField = content === undefined ? {} : { content };
      const error = isError === undefined ? {} : { is_error: isError };
      return { type: 'tool_result', tool_use_id: ids[index] ?? '', ...contentField, ...error };
    });
    if (each.apart) {
      for (const block of [...each.lead, ...toolUses]) if (!isServerBlock(block)) addMessage('assistant', [block]);
      for (const result of results) addMessage('user', [result]);
      addMessage('user', each.trail);
    } else {
      addMessage('assistant', [...withServerIds(each.lead, number), ...toolUses]);
      addMessage('user', [...results, ...each.trail]);
    }
  }
  // The last call is still pending.
  if (isOpen)
    addMessage('assistant', [{ type: 'tool_use', id: 'toolu_open', name: 'Bash', input: { command: 'npm test' } }]);
  return messages;
}

/** Adds up to four cache breakpoints, which is the API's limit. */
function withCacheMarks(messages: readonly ApiMessage[], marks: readonly number[]): ApiMessage[] {
  return messages.map((message, index) => {
    if (!marks.some((mark) => mark % messages.length === index) || typeof message.content === 'string') return message;
    const [first, ...rest] = message.content;
    return first && !first.type.includes('thinking')
      ? { ...message, content: [{ ...first, cache_control: { type: 'ephemeral' } }, ...rest] }
      : message;
  });
}

const task: fc.Arbitrary<string | readonly Block[]> = fc.oneof(
  prose,
  fc.tuple(prose, environmentDetails).map(([words, details]) => asBlocks(words).concat(asBlocks(details))),
);

/** A history in which `checkConversation` finds no violations. */
export const validHistory: fc.Arbitrary<readonly ApiMessage[]> = fc
  .record({
    task,
    turns: fc.array(turn, { maxLength: 12, size: 'large' }),
    isOpen: fc.boolean(),
    marks: fc.array(fc.nat(100), { maxLength: 4 }),
    hasSystem: fc.boolean(),
  })
  .map(({ task: first, turns, isOpen, marks, hasSystem }) => {
    const messages = withCacheMarks(assemble(first, turns, isOpen), marks);
    return hasSystem ? [{ role: 'system', content: 'You are careful.' }, ...messages] : messages;
  });

const rawBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.oneof(prose, loneSurrogates, fc.constantFrom('', ' ', '\n')) }),
  fc.record({
    type: fc.constant('tool_use'),
    id: fc.constantFrom('a', 'b'),
    name: fc.constantFrom('Read', 'toString'),
    input: fc.jsonValue({ maxDepth: 2 }),
  }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: fc.constantFrom('a', 'b', 'c'),
    content: fc.oneof(prose, fc.constantFrom('', [])),
    is_error: fc.boolean(),
  }),
  fc.record({ type: fc.constantFrom('thinking', 'image', 'unknown', 'text'), value: fc.jsonValue({ maxDepth: 1 }) }),
);

/** Random messages in any order. */
const rawHistory: fc.Arbitrary<readonly ApiMessage[]> = fc.array(
  fc.record({
    role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
    content: fc.oneof(prose, fc.constant(''), fc.array(rawBlock, { maxLength: 4 })),
  }),
  { maxLength: 8 },
);

/**
 * An imperfect history, with interrupted and repeated calls, blank texts, lost results, and
 * messages of wrong order or shape.
 */
export const anyHistory: fc.Arbitrary<readonly ApiMessage[]> = fc.oneof(
  { weight: 4, arbitrary: damaged(validHistory) },
  { weight: 1, arbitrary: rawHistory },
);
