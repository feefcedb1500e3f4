import { describe, expect, it, vi } from 'vitest';
import type { Usage } from '../core/cost/usage';
import { editJson } from '../core/json/editJson';
import { checkConversation, findNewViolations } from '../core/messages/firewall';
import { createCounter } from '../core/testingCounter';
import { createTestBed } from '../live/testing';
import { anthropicFault } from '../../test/servers/anthropicRules';
import { testClock } from '../../test/servers/testClock';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { ParsedBody } from './bodies';
import type { AgentHttpCall, PreparedHttpCall } from './condenser';
import { LiveCondenser, type LiveCondenserOptions } from './liveCondenser';
import { findKnownRequest } from './wires';
import { makeRequestBody, PATH_BY_WIRE, WIRE_NAMES } from './wires/testing';
import { writeViewIntoBody, type RequestBody, type WireName } from './wires/wire';
import type { LiveConversationsApi } from '../live/types';
import { MARKER_EXAMPLE, MARKER_START } from '../core/messages/markers';

const never = new AbortController().signal;

const makeCall = (
  wire: WireName,
  text: string,
  changes: Partial<AgentHttpCall> = {},
  path = PATH_BY_WIRE[wire],
): AgentHttpCall => {
  const recognized = findKnownRequest('POST', path.replace(/\?.*/, ''));
  if (!recognized) throw new Error('not known');
  return {
    route: 'a',
    address: new URL('http://127.0.0.1:1'),
    recognized,
    headers: {},
    read: new ParsedBody(Buffer.from(text), JSON.parse(text) as RequestBody, recognized.wire.list),
    ...changes,
  };
};

const getText = (prepared: PreparedHttpCall | undefined): string | undefined => prepared?.bytes?.toString();

const usage = (inputTokens: number): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

function engine(root: string, window = 24_000, provider = 'lossless', options: Partial<LiveCondenserOptions> = {}) {
  const bed = createTestBed(root, { settings: { provider } });
  const notes: string[] = [];
  const condenser = new LiveCondenser({
    live: bed.live,
    counter: createCounter(),
    addresses: new Map([['a', new URL('http://127.0.0.1:1')]]),
    window,
    report: (note) => notes.push(note),
    ...options,
  });
  return { ...bed, condenser, notes };
}

/** Returns a violation of Anthropic's rules, ignoring signatures. */
function findViolation(text: string): string | undefined {
  const { unknown: _, ...body } = JSON.parse(text) as Record<string, unknown>;
  return anthropicFault(body, { sign: () => 'ours' }, { turns: true }, 'context-management-2025-06-27');
}

/** Writes the body with the view from scratch. */
function writeWholeView({ recognized, read: { text, body } }: AgentHttpCall, live: LiveConversationsApi): string {
  const request = recognized.wire.read(body);
  const shown = live.view(live.active()!.id);
  if (!request || !shown) throw new Error('no view');
  const { head, end } = writeViewIntoBody(recognized.wire, text, body, request, shown);
  return head + text.slice(end);
}

const messagesIn = (call: AgentHttpCall, text: string) => {
  const request = call.recognized.wire.read(JSON.parse(text) as RequestBody);
  if (!request) throw new Error('not read');
  return request.messages;
};

describe.each(WIRE_NAMES)('a task condensed by the gateway in the API format %s', (wire) => {
  it('is sent unchanged until condensing is due, then stays within the window, valid, and with an unchanged beginning', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, events, live, notes } = engine(root);
      let last: string | undefined;
      let breaks = 0;
      for (let steps = 2; steps <= 50; steps += 2) {
        const text = makeRequestBody(wire, steps);
        const call = makeCall(wire, text);
        const prepared = await condenser.prepare(call, never);
        const sent = getText(prepared) ?? text;
        const counted = createCounter().countMessages(messagesIn(call, sent));
        prepared?.recordAnswer(usage(counted));
        if (events.length === 0) expect(getText(prepared)).toBeUndefined();
        expect(counted).toBeLessThan(24_000);
        expect(checkConversation(messagesIn(call, sent))).toEqual([]);
        expect(findNewViolations(messagesIn(call, text), messagesIn(call, sent))).toEqual([]);
        // Even if only the end of the body was processed, no part of the view may be missing.
        if (prepared?.bytes) expect(sent === writeWholeView(call, live)).toBe(true);
        // Only new content may follow the last item, apart from cache breakpoints.
        const plain = sent
          .replace(/,"cache_control":\{"type":"ephemeral"\}/g, '')
          .replace(/\][^\]]*$/, '')
          .replace(/\]\}\]$/, '');
        const kept = last !== undefined && plain.startsWith(last.slice(0, last.length - 40));
        if (last !== undefined && !kept) breaks++;
        last = plain;
      }
      const condensed = events.filter(({ kind }) => kind === 'condensed').length;
      expect(condensed).toBeGreaterThan(0);
      expect(breaks).toBeLessThanOrEqual(condensed);
      expect(notes.filter((note) => /could not be written/.test(note))).toEqual([]);
      const { requests, condensed: shortened, savedTokens } = condenser.summary();
      expect(requests).toBe(25);
      expect(shortened).toBeGreaterThan(0);
      expect(savedTokens).toBeGreaterThan(1_000);
    }));

  it('can recall removed content only if the agent has the tool and the request offers it', () =>
    inTemporaryFolder(async (root) => {
      const named = makeRequestBody(wire, 4).replaceAll('"name":"Read"', '"name":"mcp__context-condenser__recall"');
      const asked = async (options: Partial<LiveCondenserOptions>) => {
        const { condenser, live } = engine(root, 24_000, 'lossless', options);
        const prepare = vi.spyOn(live, 'prepare');
        for (const text of [makeRequestBody(wire, 2), named]) await condenser.prepare(makeCall(wire, text), never);
        return prepare.mock.calls.map(([{ canRecall }]) => canRecall);
      };
      expect(await asked({ canRecall: true })).toEqual([false, true]);
      expect(await asked({})).toEqual([undefined, undefined]);
    }));
});

describe('our recall tool in the requests of an agent', () => {
  const offered = (tool: object): Promise<boolean | undefined> =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root, 24_000, 'lossless', { canRecall: true });
      const prepare = vi.spyOn(live, 'prepare');
      const body = {
        ...makeCall('anthropic', makeRequestBody('anthropic', 2)).read.body,
        tools: [{ name: 'Read' }, tool],
      };
      await condenser.prepare(makeCall('anthropic', JSON.stringify(body)), never);
      return prepare.mock.calls[0]?.[0].canRecall;
    });

  it.each([
    ['OpenCode names it', { name: 'context-condenser_recall' }],
    [
      'an agent names it as it likes',
      { name: 'c3mcp0recall', description: `what a marker ${MARKER_EXAMPLE} stands for` },
    ],
    ['Codex lists it', { name: 'exec', description: 'tools: mcp__context_condenser__recall(args), others' }],
  ])('is recognized if %s', async (_how, tool) => {
    expect(await offered(tool)).toBe(true);
  });

  it.each([
    ['of the agent itself (Kilo)', { name: 'kilo_local_recall', description: 'Recall an earlier session.' }],
    ['of another server', { name: 'mcp__memory__recall' }],
    ['that is another of ours', { name: 'mcp__context-condenser__search' }],
  ])('is not confused with a tool %s', async (_which, tool) => {
    expect(await offered(tool)).toBe(false);
  });
});

/**
 * Creates a task of Roo Code without native tools, on Chat Completions or Messages. Every third
 * step reads an earlier file again.
 */
function createXmlTask(steps: number): string {
  const messages = Array.from({ length: steps }, (_, step) => {
    const path = `src/file${step % 3 === 2 ? step - 2 : step}.ts`;
    const lines = Array.from(
      { length: 60 },
      (__, line) => `${line + 1} | export const at${path.length}${step}_${line};`,
    );
    return [
      { role: 'assistant', content: `I look.\n<read_file>\n<path>${path}</path>\n</read_file>` },
      { role: 'user', content: [{ type: 'text', text: `[read_file for '${path}'] Result:\n\n${lines.join('\n')}` }] },
    ];
  }).flat();
  const task = { role: 'user', content: [{ type: 'text', text: '<task>\nLook at the files\n</task>' }] };
  return JSON.stringify({ model: 'some-model', stream: true, messages: [task, ...messages] });
}

describe('the engine behind the gateway', () => {
  const condensedCall = async (root: string) => {
    const one = engine(root);
    const call = makeCall('anthropic', makeRequestBody('anthropic', 40));
    const prepared = await one.condenser.prepare(call, never);
    if (getText(prepared) === undefined) throw new Error('not condensed');
    return { ...one, call, prepared: prepared as PreparedHttpCall & { bytes: Buffer } };
  };

  it('sends each request with its own condensations, whatever happened to the conversation since', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared, notes } = await condensedCall(root);
      await condenser.prepare(makeCall('anthropic', makeRequestBody('anthropic', 60)), never);
      const other = prepared.dropThinking();
      expect(notes.filter((note) => note.includes('could not be written'))).toEqual([]);
      expect(getText(other)).not.toContain('"signature"');
      // The vendor rejected thinking, so all of it is removed. That includes the turn's first
      // answer, since this body requires none.
      const broken = findNewViolations(messagesIn(call, call.read.text), messagesIn(call, getText(other)!));
      expect(broken.map(({ rule, message }) => [rule, message])).toEqual([['thinking-kept', 1]]);
      expect(findViolation(getText(other)!)).toBeUndefined();
      const tokens = (text: string) => createCounter().countMessages(messagesIn(call, text));
      const saved = tokens(call.read.text) - tokens(prepared.bytes.toString());
      // The model counts slightly more tokens.
      other?.recordAnswer(usage(tokens(prepared.bytes.toString())));
      expect(condenser.summary().savedTokens).toBeGreaterThan(saved);
      expect(condenser.summary().savedTokens).toBeLessThan(saved * 1.3);
    }));

  it('stops condensing a conversation after its condensed request was rejected', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared, notes } = await condensedCall(root);
      prepared.revertToOriginal('nonsense').recordAnswer(undefined);
      expect(getText(await condenser.prepare(call, never))).toBeUndefined();
      expect(notes.at(-1)).toContain('left alone');
    }));

  it('continues condensing if the vendor rejects the original as well, since condensing was not the reason', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared } = await condensedCall(root);
      const asItCame = prepared.revertToOriginal('Your credit balance is too low to access the Anthropic API.');
      expect(getText(asItCame)).toBeUndefined();
      expect(getText(await condenser.prepare(call, never))).toBe(getText(prepared));
    }));

  it('omits thinking that a vendor rejects once, and keeps later thinking', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared } = await condensedCall(root);
      const other = prepared.dropThinking();
      expect(getText(prepared)).toContain('"signature"');
      expect(getText(other)).not.toContain('"signature"');
      const steps = makeRequestBody('anthropic', 42);
      const next = await condenser.prepare(makeCall('anthropic', steps), never);
      // The request contains only the thinking of the two new steps, and its old part is unchanged.
      expect(getText(next)?.match(/"signature":"c2ln(\d+)"/g)).toEqual([
        '"signature":"c2ln40"',
        '"signature":"c2ln41"',
      ]);
      const start = getText(other)!.slice(0, getText(other)!.lastIndexOf(',"cache_control"'));
      expect(getText(next)!.startsWith(start)).toBe(true);
      // This works only once: a second rejection sends the original body.
      expect(next?.dropThinking()).toBeUndefined();
      next?.revertToOriginal('nonsense').recordAnswer(undefined);
      expect(getText(await condenser.prepare(call, never))).toBeUndefined();
    }));

  it('does not count thinking that it leaves out of a request', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root, 60_000);
      const makeLongBody = (steps: number): string =>
        makeRequestBody('anthropic', steps).replace(/"signature":"/g, (field) => field + 'x'.repeat(2_000));
      const countSent = (prepared: PreparedHttpCall | undefined): number => {
        const call = makeCall('anthropic', getText(prepared)!);
        return createCounter().countMessages(messagesIn(call, call.read.text));
      };
      const first = await condenser.prepare(makeCall('anthropic', makeLongBody(80)), never);
      const other = first?.dropThinking();
      expect(countSent(first) - countSent(other)).toBeGreaterThan(20_000);
      other?.recordAnswer(usage(countSent(other)));
      for (let steps = 81; steps < 85; steps++) {
        const next = await condenser.prepare(makeCall('anthropic', makeLongBody(steps)), never);
        const sent = countSent(next);
        next?.recordAnswer(usage(sent));
        expect(Math.abs(live.active()!.tokens / sent - 1)).toBeLessThan(0.02);
      }
    }));

  it('turns thinking off for the rest of a turn whose beginning lost it, and on again in the next turn', () =>
    inTemporaryFolder(async (root) => {
      const asking =
        '"thinking":{"type":"enabled","budget_tokens":4096},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"},{"type":"clear_tool_uses_20250919"}]},"stream"';
      const thinkingBody = (steps: number, behind = ''): string =>
        makeRequestBody('anthropic', steps).replace('}],"stream"', `}${behind}],${asking}`);
      const { condenser } = engine(root);
      const prepared = await condenser.prepare(makeCall('anthropic', thinkingBody(40)), never);
      // The original turn starts with its thinking.
      expect(findViolation(getText(prepared)!)).toMatch(/signature/);
      const other = prepared?.dropThinking();
      expect(findViolation(getText(other)!)).toBeUndefined();
      expect(getText(other)).toContain('"thinking":{"type":"disabled"}');
      expect(getText(other)).toContain('"edits":[{"type":"clear_tool_uses_20250919"}]');
      const next = await condenser.prepare(makeCall('anthropic', thinkingBody(41)), never);
      expect(getText(next)).toContain('"thinking":{"type":"disabled"}');
      const words = ',{"role":"assistant","content":"Done."},{"role":"user","content":"Go on."}';
      const turn = await condenser.prepare(makeCall('anthropic', thinkingBody(41, words)), never);
      expect(getText(turn)).toContain(asking);
    }));

  it('leaves room for the answer if the vendor counts it with the prompt', () =>
    inTemporaryFolder(async (root) => {
      const { condenser } = engine(root, 24_000);
      const sizes: number[] = [];
      for (let steps = 2; steps <= 60; steps += 2) {
        const call = makeCall('anthropic', makeRequestBody('anthropic', steps));
        let prepared = await condenser.prepare(call, never);
        const tokens = () => createCounter().countMessages(messagesIn(call, getText(prepared) ?? call.read.text));
        // 8,192 tokens are requested for the answer.
        if (tokens() + 8_192 > 24_000) {
          sizes.push(tokens());
          prepared = await prepared?.shorten({ tokens: tokens(), limit: 24_000 });
          expect(tokens() + 8_192).toBeLessThan(24_000);
        }
        prepared?.recordAnswer(usage(tokens()));
      }
      expect(sizes).toHaveLength(1);
    }));

  it('shortens a request that was rejected as too long', () =>
    inTemporaryFolder(async (root) => {
      const { prepared } = await condensedCall(root);
      const smaller = await prepared.shorten({});
      expect(getText(smaller)?.length).toBeLessThan(prepared.bytes.toString().length);
    }));

  it('puts the messages that it would send into a token-count request, without condensing again', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared, events } = await condensedCall(root);
      const count = (text: string) =>
        condenser.prepare(makeCall('anthropic', text, {}, '/v1/messages/count_tokens'), never);
      const before = events.length;
      expect(getText(await count(call.read.text))).toBe(getText(prepared));
      expect(getText(await count(makeRequestBody('anthropic', 41)))).toContain('Step 40.');
      expect(await count(makeRequestBody('anthropic', 3))).toBeUndefined();
      expect(events.length).toBe(before);
    }));

  it("forwards requests for titles and probes unchanged, and recognizes an agent's own summary request", () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call } = await condensedCall(root);
      const without = editJson(call.read.text, [{ path: ['tools'], removed: true }]);
      const title = editJson(without, [
        { path: ['messages'], json: '[{"role":"user","content":"Give this a title"}]' },
      ]);
      expect(getText(await condenser.prepare(makeCall('anthropic', title), never))).toBeUndefined();
      const asks = '},{"role":"assistant","content":"Well."},{"role":"user","content":"Summarize this."}],"stream"';
      const summary = without.replace('}],"stream"', asks);
      expect(getText(await condenser.prepare(makeCall('anthropic', summary), never))).toContain(MARKER_START);
    }));

  /**
   * Creates Gemini CLI's loop check: the task's last messages, whose newest call has no result
   * yet, and a question.
   */
  const createLoopCheck = (steps: number): string => {
    const body = JSON.parse(makeRequestBody('gemini', steps)) as { contents: unknown[]; tools?: unknown };
    delete body.tools;
    const task = { role: 'user', parts: [{ text: '<original_user_request>\nLook at the files' }] };
    const question = { role: 'user', parts: [{ text: 'Is the conversation stuck in a loop?' }] };
    return JSON.stringify({ ...body, contents: [task, ...body.contents.slice(5, -1), question] });
  };
  const PIECE = '/v1beta/models/gemini-3-flash-preview:generateContent';

  it('shortens a side request that does not fit, without affecting the task or putting markers into the request', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root);
      const call = makeCall('gemini', makeRequestBody('gemini', 40));
      const before = getText(await condenser.prepare(call, never));
      const aside = makeCall('gemini', createLoopCheck(40), {}, PIECE);
      const sent = getText(await condenser.prepare(aside, never));
      const tokens = createCounter().countMessages(messagesIn(aside, sent ?? ''));
      expect(tokens).toBeLessThan(24_000);
      expect(findNewViolations(messagesIn(aside, createLoopCheck(40)), messagesIn(aside, sent ?? ''))).toEqual([]);
      expect(sent).toContain('Is the conversation stuck in a loop?');
      // The task continues as it was sent.
      expect(getText(await condenser.prepare(call, never))).toBe(before);
      // The excerpt is not listed, whatever was sent last.
      const shown = live.list().map(({ id }) => id);
      expect(shown).toHaveLength(1);
      await condenser.prepare(makeCall('gemini', createLoopCheck(41), {}, PIECE), never);
      expect(live.list().map(({ id }) => id)).toEqual(shown);
      expect(live.active()?.id).toBe(shown[0]);
    }));

  it.each(['chat', 'anthropic'] as const)(
    'condenses a task in the format %s with calls in its text, from the first call on',
    (wire) =>
      inTemporaryFolder(async (root) => {
        const booked: (string | undefined)[] = [];
        const spending: LiveCondenserOptions['spending'] = {
          beginRequest: (_model, conversation) => {
            booked.push(conversation);
            return Promise.resolve({ addUsage: () => undefined, end: () => Promise.resolve() });
          },
        };
        const { condenser, live, events } = engine(root, 24_000, 'lossless', { spending });
        // The first request contains no answer yet, so it is not recognized as a task.
        await condenser.prepare(makeCall(wire, createXmlTask(0)), never);
        expect(live.list()).toHaveLength(0);
        for (let steps = 1; steps <= 40; steps++) {
          const call = makeCall(wire, createXmlTask(steps));
          const prepared = await condenser.prepare(call, never);
          const sent = getText(prepared) ?? call.read.text;
          const counted = createCounter().countMessages(messagesIn(call, sent));
          prepared?.recordAnswer(usage(counted));
          expect(counted).toBeLessThan(24_000);
          expect(findNewViolations(messagesIn(call, call.read.text), messagesIn(call, sent))).toEqual([]);
        }
        expect(events.some(({ kind }) => kind === 'condensed')).toBe(true);
        expect(live.list()).toMatchObject([{ title: 'Look at the files' }]);
        // The first request belongs to no conversation yet, and all later costs count for this one.
        expect(new Set(booked)).toEqual(new Set([undefined, live.active()?.id]));
        // A summary requested by the agent belongs to the conversation.
        const summary = JSON.parse(createXmlTask(40)) as { messages: unknown[] };
        summary.messages.push({ role: 'user', content: 'Summarize the conversation so far.' });
        const asked = await condenser.prepare(makeCall(wire, JSON.stringify(summary)), never);
        expect(getText(asked)).toContain(MARKER_START);
        expect(live.list()).toHaveLength(1);
      }),
  );

  it('does not take a side request for the next step of a task that has only text', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root);
      // Gemini CLI asks who speaks next.
      const words = (role: string, text: string) => ({ role, parts: [{ text }] });
      const contents = [words('user', 'What is this?'), words('model', 'A library.'), words('user', 'Who is next?')];
      await condenser.prepare(makeCall('gemini', JSON.stringify({ contents }), {}, PIECE), never);
      expect(live.list()).toHaveLength(0);
    }));

  it.each([
    ['lets its vendor clear results', '"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},', 1_000],
    ['names what its vendor keeps', '"cachedContent":"cachedContents/a",', 90_000],
  ])('does not calibrate token counts with a request that %s', (_what, field, reported) =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root, 100_000);
      const prepare = vi.spyOn(live, 'prepare');
      for (const steps of [10, 12, 14]) {
        const call = makeCall('anthropic', makeRequestBody('anthropic', steps).replace('"stream"', `${field}"stream"`));
        (await condenser.prepare(call, never))?.recordAnswer(usage(reported));
      }
      const last = await prepare.mock.results.at(-1)?.value;
      expect(last).toMatchObject({ contextWindow: 100_000, isCalibrated: false });
    }),
  );

  it('shortens a side request that the vendor rejects as too long, and leaves one that fits unchanged', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root, 60_000);
      const aside = makeCall('gemini', createLoopCheck(40), {}, PIECE);
      const prepared = await condenser.prepare(aside, never);
      expect(prepared && getText(prepared)).toBeUndefined();
      expect(live.list()).toHaveLength(0);
      const counted = createCounter().countMessages(messagesIn(aside, createLoopCheck(40)));
      const smaller = await prepared?.shorten({ tokens: counted * 2, limit: 60_000 });
      const left = createCounter().countMessages(messagesIn(aside, getText(smaller) ?? ''));
      expect(left * 2).toBeLessThan(60_000);
      expect(left).toBeGreaterThan(0);
      smaller?.recordAnswer(usage(left * 2));
      expect(condenser.summary()).toMatchObject({ requests: 1, condensed: 1 });
      // The next request is shortened at once, without being rejected first.
      expect(getText(await condenser.prepare(makeCall('gemini', createLoopCheck(41), {}, PIECE), never))).toContain(
        MARKER_START,
      );
      expect(
        getText(await condenser.prepare(makeCall('gemini', createLoopCheck(20), {}, PIECE), never)),
      ).toBeUndefined();
    }));

  it.each([{ tokens: 70_000 }, { limit: 60_000 }, { tokens: 50_000, limit: 60_000 }, {}])(
    'learns from a rejected side request only what the error says: %j',
    (overflow) =>
      inTemporaryFolder(async (root) => {
        const { condenser } = engine(root, 60_000);
        const prepared = await condenser.prepare(makeCall('gemini', createLoopCheck(40), {}, PIECE), never);
        expect(getText(prepared)).toBeUndefined();
        await prepared?.shorten(overflow);
        expect(getText(await condenser.prepare(makeCall('gemini', createLoopCheck(41), {}, PIECE), never))).toContain(
          MARKER_START,
        );
        expect(
          getText(await condenser.prepare(makeCall('gemini', createLoopCheck(30), {}, PIECE), never)),
        ).toBeUndefined();
      }),
  );

  it('counts the cost of a side request only when it is sent, not if the agent gives up while it is shortened', () =>
    inTemporaryFolder(async (root) => {
      const booked: number[] = [];
      const spending: LiveCondenserOptions['spending'] = {
        beginRequest: (_model, _conversation, tokens) => {
          booked.push(tokens);
          return Promise.resolve({ addUsage: () => undefined, end: () => Promise.resolve() });
        },
      };
      const { condenser } = engine(root, 24_000, 'lossless', { spending });
      const call = makeCall('gemini', createLoopCheck(40), {}, PIECE);
      await expect(condenser.prepare(call, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
      expect(booked).toEqual([]);
      await condenser.prepare(call, never);
      expect(booked).toHaveLength(1);
      expect(booked[0]).toBeLessThan(24_000);
    }));

  it('leaves a side request unchanged if nothing can be removed from it', () =>
    inTemporaryFolder(async (root) => {
      const { condenser } = engine(root, 300);
      const title = '{"messages":[{"role":"user","content":"Give this a title"}],"model":"some-model"}';
      const prepared = await condenser.prepare(makeCall('chat', title), never);
      expect(await prepared?.shorten({ tokens: 400, limit: 300 })).toBeUndefined();
    }));

  it('separates conversations by the IDs that agents give them, whatever the IDs contain', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root);
      const text = makeRequestBody('responses', 3);
      for (const headers of [
        { 'thread-id': 't1' },
        { 'thread-id': 't2' },
        { 'x-claude-code-session-id': 's', 'x-claude-code-agent-id': 'a' },
        { 'x-claude-code-session-id': 's' },
        {},
      ]) {
        await condenser.prepare(makeCall('responses', text, { headers }), never);
      }
      expect(live.list()).toHaveLength(5);
    }));

  it.each([
    ['five minutes', '', 4, []],
    ['five minutes', '', 6, ['cold-cache']],
    ['an hour, if that is requested', ',"ttl":"1h"', 59, []],
    ['an hour, if that is requested', ',"ttl":"1h"', 61, ['cold-cache']],
  ])("knows a prompt cache's lifetime of %s%s: after %i minutes the reasons are %j", (_time, ttl, minutes, reasons) =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live, events } = createTestBed(root, { clock, settings: { provider: 'lossless', coldPercent: 20 } });
      const addresses = new Map([['a', new URL('https://api.anthropic.com')]]);
      const condenser = new LiveCondenser({ live, counter: createCounter(), addresses, window: 100_000 });
      const body = makeRequestBody('anthropic', 25).replaceAll('"type":"ephemeral"', `"type":"ephemeral"${ttl}`);
      const first = await condenser.prepare(makeCall('anthropic', body), never);
      first?.recordAnswer(usage(30_000));
      clock.advance(minutes * 60_000);
      await condenser.prepare(makeCall('anthropic', body), never);
      const decisions = events.flatMap((event) => (event.kind === 'condensed' ? [event.decision.reason] : []));
      expect(decisions).toEqual(reasons);
    }),
  );

  it("knows the prompt cache's lifetime for a task with calls in its text", () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live, events } = createTestBed(root, { clock, settings: { provider: 'lossless', coldPercent: 20 } });
      const addresses = new Map([['a', new URL('https://api.anthropic.com')]]);
      const condenser = new LiveCondenser({ live, counter: createCounter(), addresses, window: 100_000 });
      const call = makeCall('anthropic', createXmlTask(25));
      (await condenser.prepare(call, never))?.recordAnswer(usage(30_000));
      clock.advance(6 * 60_000);
      await condenser.prepare(call, never);
      expect(events.flatMap((event) => (event.kind === 'condensed' ? [event.decision.reason] : []))).toEqual([
        'cold-cache',
      ]);
    }));

  it('ignores the cache of a side request when it condenses the task', () =>
    inTemporaryFolder(async (root) => {
      const clock = testClock();
      const { live, events } = createTestBed(root, { clock, settings: { provider: 'lossless', coldPercent: 10 } });
      const addresses = new Map([['a', new URL('https://generativelanguage.googleapis.com')]]);
      const condenser = new LiveCondenser({ live, counter: createCounter(), addresses, window: 100_000 });
      const text = makeRequestBody('gemini', 25);
      const task = makeCall('gemini', text);
      const toolless = text.replace(/"tools":\[.*?\]\}\],/, '');
      const beside = makeCall('gemini', toolless, {}, '/v1beta/models/gemini-2.5-flash-lite:generateContent');
      expect(toolless).not.toContain('functionDeclarations');
      for (const call of [task, beside, task]) {
        const prepared = await condenser.prepare(call, never);
        prepared?.recordAnswer(usage(30_000));
        clock.advance(60_000);
      }
      expect(live.list()).toHaveLength(1);
      expect(events.filter(({ kind }) => kind === 'condensed')).toEqual([]);
    }));

  it('recognizes a conversation whose start Gemini CLI drops, with a note or the next prompt added', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, live } = engine(root);
      const sent = (task: readonly string[], steps: number) => {
        const parts = task.map((words) => ({ text: words }));
        const edits = [{ path: ['contents', 0, 'parts'], json: JSON.stringify(parts) }];
        return makeCall('gemini', editJson(makeRequestBody('gemini', steps), edits));
      };
      // A body without steps would have a comma after its only message.
      const begun = (task: readonly string[]) => {
        const call = sent(task, 1);
        const contents = call.read.body['contents'] as readonly unknown[];
        return makeCall('gemini', JSON.stringify({ ...call.read.body, contents: contents.slice(0, 1) }));
      };
      const [context, task] = ['<session_context>', 'Look at the files'];
      const first = await condenser.prepare(begun([context, task]), never);
      first?.recordAnswer(usage(1_000));
      for (const call of [sent([context, task], 30), begun([context, task, '[System: go on.]'])]) {
        const escape = new AbortController();
        await condenser.prepare(call, escape.signal);
        escape.abort();
      }
      await condenser.prepare(begun([context, task, 'Go on with it.']), never);
      await condenser.prepare(sent([context, task, 'Go on with it.'], 10), never);
      expect(live.list()).toHaveLength(1);
      await condenser.prepare(begun([context, task, 'In another way.']), never);
      expect(live.list()).toHaveLength(2);
    }));

  it('follows a result that its agent rewrote, and a conversation that the agent restarted', () =>
    inTemporaryFolder(async (root) => {
      const { condenser, call, prepared } = await condensedCall(root);
      const rewritten = JSON.parse(call.read.text) as { messages: { content: { content?: unknown }[] }[] };
      rewritten.messages[2]!.content[0]!.content = '[Old tool result content cleared]';
      const after = await condenser.prepare(makeCall('anthropic', JSON.stringify(rewritten)), never);
      expect(getText(after)).toContain('[Old tool result content cleared]');
      expect(getText(after)!.length).toBeLessThan(prepared.bytes.toString().length * 1.2);
      const anew = JSON.stringify({ ...rewritten, messages: [{ role: 'user', content: 'Summary: go on.' }] });
      const began = await condenser.prepare(makeCall('anthropic', anew), never);
      expect(getText(began)).toBeUndefined();
    }));
});
