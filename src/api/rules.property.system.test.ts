/**
 * The firewall and the test servers were written independently. This checks them against each
 * other, on generated valid and invalid conversations and on the handlers' conversions.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anthropicFault } from '../../test/servers/anthropicRules';
import { chatFault, responsesFault } from '../../test/servers/openaiRules';
import { checkConversation } from '../core/messages/firewall';
import type { ApiMessage, Block } from '../core/messages/types';
import { findAnthropicDialect } from './anthropicDialect';
import { buildAnthropicBody } from './anthropicMessages';
import { chooseChatDialect, RESPONSES_DIALECT } from './dialect';
import { buildChatBody } from './openaiChat';
import { buildResponsesBody } from './openaiResponses';
import { assistant, call, imageBlock, READ_FILE_TOOL, result, text, user } from './testing';

const signer = { sign: (content: string) => `signed ${content.length}` };
const model = { id: 'm' };

type Json = Readonly<Record<string, unknown>>;
const wire = (body: unknown): Json => JSON.parse(JSON.stringify(body)) as Json;
const serverSays = (messages: readonly ApiMessage[]): string | undefined => {
  const request = { messages, tools: [READ_FILE_TOOL] };
  return anthropicFault(wire(buildAnthropicBody(request, model, findAnthropicDialect(model.id))), signer);
};

const words = fc.string({ minLength: 1 }).filter((value) => value.trim() !== '');
const input = fc.dictionary(fc.constantFrom('path', 'command', 'content'), fc.jsonValue());

/** The assistant writes text and calls; the user message answers all calls. */
const round = fc
  .record({
    thought: fc.option(words),
    said: fc.option(words),
    calls: fc.array(
      fc.record({ input, output: fc.oneof(words, fc.constant([text('seen'), imageBlock])), isError: fc.boolean() }),
      { maxLength: 3 },
    ),
    reply: fc.option(words),
  })
  .filter(({ said, calls }) => said !== null || calls.length > 0);

/** Conversations that are valid for every API, with agents' extra fields. */
const conversation = fc.record({ task: words, rounds: fc.array(round, { maxLength: 6 }) }).map(({ task, rounds }) => [
  { ...user(task), ts: 1 },
  ...rounds.flatMap(({ thought, said, calls, reply }, index): ApiMessage[] => {
    const id = (at: number): string => `call_${index}_${at}`;
    const blocks: Block[] = [
      ...(thought === null ? [] : [{ type: 'thinking', thinking: thought, signature: signer.sign(thought) }]),
      ...(said === null ? [] : [text(said)]),
      ...calls.map(({ input: value }, at) => ({
        ...call(id(at), value),
        rawArguments: JSON.stringify(value, null, 1),
      })),
    ];
    const results = calls.map(({ output, isError }, at) =>
      isError ? { ...result(id(at), 'failed'), is_error: true } : result(id(at), output),
    );
    const answer = [...results, ...(reply === null ? [] : [text(reply)])];
    return [{ ...assistant(blocks), ts: 2 }, ...(answer.length > 0 ? [user(answer)] : [])];
  }),
]);

/** Mutations that break a conversation, as other products' bugs did. */
const BREAKS: Readonly<Record<string, (messages: readonly ApiMessage[], at: number) => readonly ApiMessage[]>> = {
  'a message left out': (messages, at) => messages.toSpliced(at % messages.length, 1),
  'the first message left out': (messages) => messages.slice(1),
  'messages swapped': (messages, at) => {
    const index = at % messages.length;
    return [...messages.slice(0, index), ...messages.slice(index).toReversed()];
  },
  'a message twice': (messages, at) =>
    messages.flatMap((message, index) => (index === at % messages.length ? [message, message] : [message])),
  'a block left out': (messages, at) => editBlocks(messages, at, (blocks) => blocks.slice(1)),
  'blocks reversed': (messages, at) => editBlocks(messages, at, (blocks) => blocks.toReversed()),
  'blank text': (messages, at) => editBlocks(messages, at, (blocks) => [...blocks, text(' ')]),
  'an input as text': (messages, at) =>
    editBlocks(messages, at, (blocks) =>
      blocks.map((block) => (block.type === 'tool_use' ? { ...block, input: 'x' } : block)),
    ),
  'an error without text': (messages, at) =>
    editBlocks(messages, at, (blocks) =>
      blocks.map((block) => (block.type === 'tool_result' ? { ...block, content: [], is_error: true } : block)),
    ),
  'too many cache marks': (messages) =>
    messages.map((message) => ({
      ...message,
      content:
        typeof message.content === 'string'
          ? message.content
          : message.content.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } })),
    })),
};

const editBlocks = (
  messages: readonly ApiMessage[],
  at: number,
  edit: (blocks: readonly Block[]) => readonly Block[],
): ApiMessage[] =>
  messages.map((message, index) =>
    index === at % messages.length && typeof message.content !== 'string'
      ? { ...message, content: edit(message.content) }
      : message,
  );

/** The firewall allows pending calls at the end; the API doesn't. */
const endsAnswered = (messages: readonly ApiMessage[]): boolean =>
  !messages
    .slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
    .some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'tool_use'));

/** The conversion removes cache breakpoints on thinking, so the firewall ignores them. */
const marksThinking = (messages: readonly ApiMessage[]): boolean =>
  messages.some(
    ({ content }) =>
      typeof content !== 'string' && content.some((block) => block.type === 'thinking' && 'cache_control' in block),
  );

describe('generated conversations', () => {
  it('pass the validity check, and every test server accepts what the handlers send for them', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        expect(checkConversation(messages)).toEqual([]);
        expect(serverSays(messages)).toBeUndefined();
        const request = { messages, tools: [READ_FILE_TOOL], system: 'Be short.' };
        const chat = chooseChatDialect(new URL('http://127.0.0.1'));
        expect(chatFault(wire(buildChatBody(request, model, chat)), {})).toBeUndefined();
        const strict = { ...chat, alternateRoles: true, systemRole: false };
        expect(
          chatFault(wire(buildChatBody(request, model, strict)), { noSystemRole: true, alternateRoles: true }),
        ).toBeUndefined();
        expect(responsesFault(wire(buildResponsesBody(request, model, RESPONSES_DIALECT)), signer)).toBeUndefined();
      }),
    );
  });

  it.each(Object.entries(BREAKS))(
    'that were made invalid get the same verdict from the validity check and the server: %s',
    (_, breakIt) => {
      let refused = 0;
      fc.assert(
        fc.property(conversation, fc.nat(), (messages, at) => {
          const broken = breakIt(messages, at);
          fc.pre(broken.length > 0 && endsAnswered(broken) && !marksThinking(broken));
          const violations = checkConversation(broken);
          if (violations.length > 0) refused++;
          expect(violations.length > 0).toBe(serverSays(broken) !== undefined);
        }),
      );
      // Enough cases must be rejected, or the test would check nothing.
      expect(refused).toBeGreaterThan(0);
    },
  );
});
