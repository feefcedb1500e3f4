/** Damages valid histories in ways that have a name. */
import fc from 'fast-check';
import type { ApiMessage, Block } from '../../src/core/messages/types';

type Damage = (messages: readonly ApiMessage[], at: number) => readonly ApiMessage[];

/** Changes a message's blocks; string content stays. */
const changeBlocks =
  (change: (blocks: readonly Block[]) => readonly Block[]): Damage =>
  (messages, at) =>
    messages.map((message, index) =>
      index === at && typeof message.content !== 'string' ? { ...message, content: change(message.content) } : message,
    );

const changeType = (type: string, change: (block: Block) => readonly Block[]): Damage =>
  changeBlocks((blocks) => blocks.flatMap((block) => (block.type === type ? change(block) : [block])));

const DAMAGES: Readonly<Record<string, Damage>> = {
  // A call that was interrupted has no result.
  lostResult: changeType('tool_result', () => []),
  lostCall: changeType('tool_use', () => []),
  lostMessage: (messages, at) => messages.filter((_, index) => index !== at),
  repeatedMessage: (messages, at) =>
    messages.flatMap((message, index) => (index === at ? [message, { ...message }] : [message])),
  repeatedResult: changeType('tool_result', (block) => [block, { ...block }]),
  swapped: (messages, at) => [
    ...messages.slice(0, at),
    ...messages.slice(at, at + 2).toReversed(),
    ...messages.slice(at + 2),
  ],
  blankText: changeBlocks((blocks) => [...blocks, { type: 'text', text: ' \n' }]),
  blankString: (messages, at) =>
    messages.map((message, index) => (index === at ? { ...message, content: '' } : message)),
  noBlocks: changeBlocks(() => []),
  textFirst: changeBlocks((blocks) => [{ type: 'text', text: 'Before the results.' }, ...blocks]),
  inputIsText: changeType('tool_use', (block) => [{ ...block, input: '{"path": "cut o' }]),
  inputIsList: changeType('tool_use', (block) => [{ ...block, input: ['a', { b: 'c'.repeat(3_000) }] }]),
  inputIsMissing: changeType('tool_use', ({ type, id, name }) => [{ type, id, name }]),
  emptyError: changeType('tool_result', (block) => [{ ...block, content: '', is_error: true }]),
  // Cline 4 stores parts of a result without their type.
  untypedParts: changeType('tool_result', (block) => [
    { ...block, content: [{ query: 'q', result: 'line of a file\n'.repeat(90) }] as unknown as readonly Block[] },
  ]),
  blankPart: changeType('tool_result', (block) => [{ ...block, content: [{ type: 'text', text: '' }] }]),
  resultWithoutId: changeType('tool_result', ({ type, content }) => [{ type, content }]),
  tooManyMarks: changeBlocks((blocks) => blocks.map((block) => ({ ...block, cache_control: { type: 'ephemeral' } }))),
  otherRole: (messages, at) =>
    messages.map((message, index) =>
      index === at ? { ...message, role: message.role === 'user' ? 'assistant' : 'user' } : message,
    ),
  startsLate: (messages, at) => messages.slice(at),
};

/** A history with one to four kinds of damage. */
export const damaged = (history: fc.Arbitrary<readonly ApiMessage[]>): fc.Arbitrary<readonly ApiMessage[]> =>
  fc
    .tuple(
      history,
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(DAMAGES)), fc.nat(30)), { minLength: 1, maxLength: 4 }),
    )
    .map(([messages, damages]) =>
      damages.reduce<readonly ApiMessage[]>(
        (sound, [name, at]) => DAMAGES[name]?.(sound, sound.length === 0 ? 0 : at % sound.length) ?? sound,
        messages,
      ),
    );
