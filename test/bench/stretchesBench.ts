/**
 * The longest time that the thread is held at a stretch, over texts that are huge or of a kind that careless work is slow on, by each way
 * in which a text reaches the extension host's thread.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { losslessProvider, smartProvider, truncationProvider, CondensationManager } from '../../src/core/condense';
import { coherenceOf } from '../../src/core/condense/coherence/coherence';
import type { CondensationProvider } from '../../src/core/condense/types';
import type { ApiMessage } from '../../src/core/messages/types';
import { LONGEST_COMPARED, renderConversation } from '../../src/core/messages/render';
import { foldTexts } from '../../src/core/condense/report/foldedTexts';
import { maskedMessage } from '../../src/core/secrets/maskMessages';
import { assistant, call, exchange, result, user } from '../../src/core/testing';
import { LiveConversations } from '../../src/live/liveConversations';
import type { AgentRequest, UpstreamModel } from '../../src/live/request';
import { Random } from '../generators/random';
import { monitorHeld } from './held';
import { collectGarbage, freshCounter } from './measure';
import { millis, table } from './table';

export interface StretchPoint {
  readonly kind: string;
  readonly megabytes: number;
  /** By way: the longest stretch in milliseconds, and the processor's time of all of it. */
  readonly ways: Readonly<Record<string, { readonly stretchMs: number; readonly allMs: number }>>;
}

const MEGABYTE = 1e6;
const WORD = 'if (request.retry > limit) return undefined; ';

const repeated = (piece: string, chars: number): string => {
  const text = piece.repeat(Math.ceil(chars / piece.length));
  return text.slice(0, chars - (chars % piece.length));
};

/** A text of so many UTF-16 units, about. */
const KINDS: Readonly<Record<string, (chars: number) => string>> = {
  'one line, repeated': (chars) => repeated(`${WORD}\n`, chars),
  'one letter': (chars) => repeated('a', chars),
  'JSON on one line': (chars) => repeated('{"id":17,"name":"retry","tags":["a","b"],"text":"it \\"fails\\""},', chars),
  'blank lines': (chars) => repeated('\n', chars),
  markers: (chars) => repeated('⟦condensed: 12 lines of a result · ref abcdef⟧\n', chars),
  digits: (chars) => repeated('1234567890', chars),
  base64: (chars) => {
    const random = new Random(5);
    const bytes = Buffer.alloc(Math.ceil((chars * 3) / 4));
    for (let at = 0; at < bytes.length; at++) bytes[at] = random.int(256);
    return bytes.toString('base64').slice(0, chars);
  },
  emoji: (chars) => repeated('👩‍👩‍👧🎉', chars),
  'lone surrogates': (chars) => repeated('\ud83d \udc00', chars),
  '\\r\\n': (chars) => repeated(`${WORD}\r\n`, chars),
  'distinct short lines': (chars) => Array.from({ length: Math.ceil(chars / 12) }, (_, at) => `line ${at}`).join('\n'),
};

interface Bed {
  readonly text: string;
  readonly messages: readonly ApiMessage[];
  readonly root: string;
}

/** A conversation with the text as a result in its middle. */
const conversationWith = (text: string): ApiMessage[] => [
  user('Look into the log, and mend what fails.'),
  ...exchange('first', 'Read', { file_path: '/p/src/a.ts' }, 'const a = 1;\nexport default a;'),
  assistant(call('huge', 'Bash', { command: 'cat log' })),
  user(result('huge', text)),
  ...Array.from({ length: 12 }, (_, at) =>
    exchange(`behind-${at}`, 'Bash', { command: `ls ${at}` }, `file-${at}`),
  ).flat(),
  assistant('Done.'),
];

const copied = (messages: readonly ApiMessage[]): ApiMessage[] => JSON.parse(JSON.stringify(messages)) as ApiMessage[];

const model = (changes: Partial<UpstreamModel> = {}): UpstreamModel => ({
  key: 'bench',
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
  threshold: { percent: 75 },
  ...changes,
});

const requestOf = (messages: readonly ApiMessage[], upstream = model()): AgentRequest => ({
  conversationId: 'bench',
  system: 'You are an agent.',
  messages: copied(messages),
  tools: [{ name: 'Bash' }],
  canRecall: true,
  model: upstream,
});

const PROVIDERS = [losslessProvider, truncationProvider, smartProvider()] as unknown as [
  CondensationProvider,
  CondensationProvider,
  CondensationProvider,
];

function liveIn(root: string, changes: object = {}): LiveConversations {
  const counter = freshCounter();
  return new LiveConversations({
    manager: new CondensationManager(counter, PROVIDERS),
    counter,
    root,
    settings: () => ({ provider: 'lossless', mayUseNative: false, ...changes }),
  });
}

type Action = () => unknown;

/** Each makes ready what is not measured, and gives what is. */
const WAYS: Readonly<Record<string, (bed: Bed) => Action | Promise<Action>>> = {
  counted: ({ text }) => {
    const counter = freshCounter();
    return () => counter.text(text);
  },
  'new in the chat': async ({ messages, root }) => {
    const live = liveIn(root);
    await live.prepare(requestOf(messages.slice(0, 4)));
    const request = requestOf(messages.slice(0, 5));
    return () => live.prepare(request);
  },
  'next request': async ({ messages, root }) => {
    const live = liveIn(root);
    await live.prepare(requestOf(messages.slice(0, 5)));
    const request = requestOf(messages.slice(0, 7));
    return () => live.prepare(request);
  },
  'after a restart': async ({ messages, root }) => {
    await liveIn(root).prepare(requestOf(messages.slice(0, 7)));
    const live = liveIn(root);
    const request = requestOf(messages);
    return () => live.prepare(request);
  },
  'due, lossless': ({ messages, root }) => {
    const live = liveIn(root, { largeResultPercent: 0, onArrival: 'off' });
    const request = requestOf(messages, model({ contextWindow: 60_000, threshold: { percent: 20 } }));
    return () => live.prepare(request);
  },
  ...Object.fromEntries(
    (['lossless', 'truncation', 'smart'] as const).map((provider) => [
      `by hand, ${provider}`,
      async ({ messages, root }: Bed) => {
        const live = liveIn(root, { largeResultPercent: 0, onArrival: 'off' });
        const request = requestOf(messages, model({ contextWindow: 1e9, threshold: { percent: 100 } }));
        const { conversation } = await live.prepare(request);
        const config = provider === 'smart' ? 'file-aware' : undefined;
        return () => live.condenseNow(conversation, { provider, config });
      },
    ]),
  ),
  undone: async ({ messages, root }) => {
    const live = liveIn(root, { largeResultPercent: 0, onArrival: 'off' });
    const { conversation } = await live.prepare(requestOf(messages, model({ contextWindow: 1e9 })));
    await live.condenseNow(conversation, { provider: 'truncation' });
    return () => live.undo(conversation);
  },
  coherence:
    ({ messages }) =>
    () =>
      coherenceOf(messages, []),
  masked:
    ({ messages }) =>
    () =>
      messages.map(maskedMessage),
  recalled: async ({ messages, root }) => {
    const live = liveIn(root);
    const { conversation } = await live.prepare(requestOf(messages.slice(0, 5)));
    return () => live.recall(conversation, { words: 'retry fails' });
  },
  'the diff': ({ messages }) => {
    const view = [...messages.slice(0, 4), user(result('huge', 'gone')), ...messages.slice(5)];
    return () => {
      const before = renderConversation(messages, undefined, messages, LONGEST_COMPARED);
      const after = renderConversation(view, undefined, messages, LONGEST_COMPARED);
      return foldTexts(before, after);
    };
  },
};

export async function benchStretches(
  megabytes: readonly number[],
  only: { readonly kinds: string | undefined; readonly ways: string | undefined },
  tell: (text: string) => void,
): Promise<StretchPoint[]> {
  const points: StretchPoint[] = [];
  for (const size of megabytes) {
    for (const [kind, make] of Object.entries(KINDS)) {
      if (only.kinds !== undefined && !kind.includes(only.kinds)) continue;
      // As a file's reader makes it: what `repeat` makes is put together by whoever reads it first.
      const text = JSON.parse(JSON.stringify(make(size * MEGABYTE))) as string;
      const ways: Record<string, { stretchMs: number; allMs: number }> = {};
      for (const [way, ready] of Object.entries(WAYS)) {
        if (only.ways !== undefined && !way.includes(only.ways)) continue;
        ways[way] = await measured(text, ready);
        tell(`${size} MB of ${kind}, ${way}: ${JSON.stringify(ways[way])}`);
      }
      points.push({ kind, megabytes: size, ways });
    }
  }
  return points;
}

async function measured(
  text: string,
  ready: (bed: Bed) => Action | Promise<Action>,
): Promise<{ stretchMs: number; allMs: number }> {
  const root = mkdtempSync(join(tmpdir(), 'condenser-bench-'));
  try {
    const action = await ready({ text, messages: conversationWith(text), root });
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
    const held = monitorHeld();
    const started = process.cpuUsage();
    await action();
    const { user: own, system } = process.cpuUsage(started);
    return { stretchMs: Math.round(await held()), allMs: Math.round((own + system) / 1_000) };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 10 });
  }
}

export function stretchesTable(points: readonly StretchPoint[]): string {
  const ways = Object.keys(points[0]?.ways ?? {});
  return table(
    ['text', 'MB', ...ways],
    points.map(({ kind, megabytes, ways: by }) => [
      kind,
      megabytes,
      ...ways.map((way) => millis(by[way]?.stretchMs ?? Number.NaN)),
    ]),
  );
}
