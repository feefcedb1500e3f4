import { describe, expect, it } from 'vitest';
import { assistant, user, makeToolExchange, makeLines } from '../../../testing';
import { createCounter } from '../../../testingCounter';
import type { CondensationOptions, ConversationContext } from '../../types';
import type { SmartConfigInput } from './config';
import {
  createPass,
  LONG_TEXT,
  createMessagesWithCalls,
  runPasses,
  type PassInput,
  SUPPRESS_OPERATION,
} from './testing';

describe('content that Smart protects', () => {
  const suppressAll = createPass({
    messageText: SUPPRESS_OPERATION,
    toolParameters: SUPPRESS_OPERATION,
    toolResults: SUPPRESS_OPERATION,
  });
  const messages = [
    user(LONG_TEXT),
    ...makeToolExchange('a', 'Read', { file_path: '/p/docs/guide.md' }, LONG_TEXT),
    ...makeToolExchange('b', 'mcp__db__query', { query: 'select' }, LONG_TEXT),
    ...makeToolExchange('c', 'TodoWrite', { todos: [{ content: LONG_TEXT, status: 'pending' }] }, LONG_TEXT),
    ...makeToolExchange('d', 'TodoWrite', { todos: [{ content: LONG_TEXT, status: 'done' }] }, LONG_TEXT),
    user(makeLines('words of a person', 40)),
    assistant(LONG_TEXT),
    ...makeToolExchange('e', 'Bash', { command: 'x' }, LONG_TEXT),
  ];
  const edited = async (
    more: Partial<SmartConfigInput>,
    context: Partial<ConversationContext> = {},
  ): Promise<number[]> => {
    const { result: made } = await runPasses(messages, [suppressAll], { config: more, context });
    return made.edits.map((edit) => (edit.kind === 'summary' ? -1 : edit.place.message));
  };

  it('includes the task, a person’s words and the last to-do list', async () => {
    expect(await edited({})).toEqual([2, 4, 5, 6, 10, 12]);
    expect(await edited({ protect: { userMessages: false } })).toEqual([2, 4, 5, 6, 9, 10, 12]);
  });

  it('includes protected tools, files and pinned messages', async () => {
    expect(await edited({ protect: { tools: ['mcp__*'], files: ['docs/**/*.md'] } })).toEqual([5, 6, 10, 12]);
    expect(await edited({}, { pinned: new Set([4, 10]) })).toEqual([2, 5, 6, 12]);
  });
});

describe('selections and overrides of a pass', () => {
  const editedBy = async (pass: PassInput, options: CondensationOptions = {}): Promise<number[]> => {
    const { result: made } = await runPasses(createMessagesWithCalls(5), [pass], { options });
    return made.edits.map((edit) => (edit.kind === 'cut' ? edit.place.message : -1));
  };

  it.each<[PassInput['selection'], number[]]>([
    [{ type: 'preserve_recent', count: 4 }, [2, 4, 6]],
    // The newest three would begin with a result, so its call is kept as well.
    [{ type: 'preserve_recent', count: 3 }, [2, 4, 6]],
    [{ type: 'preserve_percent', percentage: 40 }, [2, 4, 6]],
    [{ type: 'preserve_percent', percentage: 0 }, [2, 4, 6, 8, 10]],
    [{ type: 'custom', filter: { contains: 'R3 LINE' } }, [8]],
    [{ type: 'custom', filter: { age: { min: 4, max: 6 } } }, [4, 6]],
    [{ type: 'custom', filter: { or: [{ contains: 'r0' }, { contains: 'r4' }] } }, [2, 10]],
    [{ type: 'custom', filter: { not: { age: { max: 6 } } } }, [2]],
    [{ type: 'custom', filter: { kinds: ['read'] } }, []],
    [{ type: 'custom', filter: { isError: true } }, []],
    [{ type: 'custom', filter: { isError: false, tools: ['Bash'] } }, [2, 4, 6, 8, 10]],
    [{ type: 'custom', selector: (_message, index) => index === 6 }, [6]],
  ])('choose the right messages: %j', async (selection, expected) => {
    expect(await editedBy(createPass({ toolResults: SUPPRESS_OPERATION }, { selection }))).toEqual(expected);
  });

  it('apply an override only to the message that it names', async () => {
    const overrides = [{ messageIndex: 4, operations: { toolResults: { operation: 'keep' as const } } }];
    expect(await editedBy(createPass({ toolResults: SUPPRESS_OPERATION }, {}, { overrides }))).toEqual([2, 6, 8, 10]);
  });

  it("keep content that has fewer tokens than the pass's threshold", async () => {
    const kept = createPass(
      { toolResults: SUPPRESS_OPERATION },
      {},
      { messageTokenThresholds: { toolResults: 10_000 } },
    );
    expect(await editedBy(kept)).toEqual([]);
  });

  it('remove the oldest first, and no more than the target requires', async () => {
    const targetTokens = createCounter().countMessages(createMessagesWithCalls(5)) - 300;
    expect(await editedBy(createPass({ toolResults: SUPPRESS_OPERATION }), { targetTokens })).toEqual([2]);
  });
});
