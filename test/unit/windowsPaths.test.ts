/**
 * Checks that these properties of Windows sessions don't affect condensing: a file may be named
 * `C:\Repo\a.ts`, `c:/repo/a.ts` and `/c:/Repo/a.ts`, results have CR LF, and paths exceed 260
 * characters.
 */
import { describe, expect, it } from 'vitest';
import { losslessProvider } from '../../src/core/condense';
import { applyEdits, restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { getOriginalText, type Edit } from '../../src/core/condense/edits/edits';
import { findPresetById } from '../../src/core/condense/providers/smart/presets';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import { listTouchedFiles } from '../../src/core/messages/filesTouched';
import { findUnresolvedErrors } from '../../src/core/condense/summary/openErrors';
import { listToolExchanges } from '../../src/core/messages/exchanges';
import { findNewViolations } from '../../src/core/messages/firewall';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import type { ApiMessage } from '../../src/core/messages/types';
import { makeToolExchange, user } from '../../src/core/testing';
import { createCounter } from '../../src/core/testingCounter';
import { generateConversation } from '../generators/conversation';
import { Random } from '../generators/random';

const DRIVE = 'C:/';

/** Moves generated paths to a drive, and makes them longer than Windows' limit. */
const onWindows = (messages: readonly ApiMessage[], below = ''): ApiMessage[] =>
  JSON.parse(JSON.stringify(messages).replaceAll('/home/dev/', `${DRIVE}Users/dev/${below}`)) as ApiMessage[];

const SPELLINGS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.replaceAll('/', '\\'),
  (path) => `c${path.slice(1).toLowerCase()}`,
  (path) => `/c${path.slice(1)}`,
  (path) => `\\\\?\\${path.replaceAll('/', '\\')}`,
];

const PATHS: ReadonlySet<string> = new Set(['file_path', 'path']);

/** Varies how calls spell the file's path. */
function respelt(messages: readonly ApiMessage[], seed: number): ApiMessage[] {
  const random = new Random(seed);
  return JSON.parse(JSON.stringify(messages), (key, value: unknown) =>
    PATHS.has(key) && typeof value === 'string' && value.startsWith(DRIVE) ? random.pick(SPELLINGS)(value) : value,
  ) as ApiMessage[];
}

/** Gives results the line ends that Windows programs print. */
const withCrLf = (messages: readonly ApiMessage[]): ApiMessage[] =>
  messages.map((message) =>
    typeof message.content === 'string'
      ? message
      : {
          ...message,
          content: message.content.map((block) =>
            block.type === 'tool_result' && typeof block['content'] === 'string'
              ? { ...block, content: block['content'].replaceAll('\n', '\r\n') }
              : block,
          ),
        },
  );

const counter = createCounter();

const PROVIDERS = {
  Lossless: async (messages: readonly ApiMessage[]) => {
    const checked = losslessProvider.validateConfig(undefined);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return losslessProvider.condense({ messages, edits: [], counter }, checked.config, {});
  },
  'File-Aware': async (messages: readonly ApiMessage[]) => {
    const smart = createSmartProvider();
    const checked = smart.validateConfig(findPresetById('file-aware')?.config);
    if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
    return smart.condense({ messages, edits: [], counter }, checked.config, {});
  },
};

/**
 * Runs a provider and checks the invariants.
 * @returns the places of cuts, and the share of tokens that remains
 */
async function condensed(
  provider: keyof typeof PROVIDERS,
  messages: readonly ApiMessage[],
): Promise<{ readonly places: string[]; readonly left: number }> {
  const { edits } = await PROVIDERS[provider](messages);
  const { messages: view, origins } = applyEdits(messages, edits);
  expect(findNewViolations(messages, view, { origins })).toEqual([]);
  const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(messages, edit)]));
  expect(restoreMessagesBeforeEdits(view, edits, (hash) => originals.get(hash))).toEqual(messages);
  const serializePlace = (edit: Edit): string => JSON.stringify('place' in edit ? edit.place : edit);
  return {
    places: edits.map(serializePlace).toSorted(),
    left: counter.countMessages(view) / counter.countMessages(messages),
  };
}

describe.each(['Lossless', 'File-Aware'] as const)('%s, on a conversation with Windows paths,', (provider) => {
  it.each([1, 2, 3])('is independent of how a call writes its path: session %s', async (seed) => {
    const messages = onWindows(generateConversation({ seed, targetTokens: 25_000 }));
    const plain = await condensed(provider, messages);
    const spelt = await condensed(provider, respelt(messages, seed));
    expect(plain.places.length).toBeGreaterThan(0);
    expect(spelt.places).toEqual(plain.places);
  });

  it.each([1, 2, 3])('is independent of CR LF line ends: session %s', async (seed) => {
    const messages = onWindows(generateConversation({ seed, targetTokens: 25_000 }), 'deep/'.repeat(60));
    const plain = await condensed(provider, messages);
    const ended = await condensed(provider, withCrLf(messages));
    expect(ended.left).toBeLessThan(plain.left + 0.03);
  });
});

describe('facts about files with Windows paths', () => {
  const [one, other] = ['C:\\Repo\\src\\a.ts', 'c:/repo/src/A.ts'];

  it('name a file once', () => {
    const exchanges = listToolExchanges([
      user('Go'),
      ...makeToolExchange('1', 'Read', { file_path: one }, 'x'),
      ...makeToolExchange('2', 'Edit', { file_path: other, old_string: 'a', new_string: 'b' }, 'ok'),
    ]);
    expect(listTouchedFiles(exchanges, DEFAULT_TOOLS)).toEqual([{ path: one, changes: 1 }]);
  });

  it('recognize that an error was resolved', () => {
    const exchanges = listToolExchanges([
      user('Go'),
      ...makeToolExchange('1', 'Edit', { file_path: one, old_string: 'a', new_string: 'b' }, 'not found', {
        is_error: true,
      }),
      ...makeToolExchange('2', 'Edit', { file_path: other, old_string: 'a', new_string: 'b' }, 'ok'),
    ]);
    expect(findUnresolvedErrors(exchanges, DEFAULT_TOOLS)).toEqual([]);
  });
});
