/**
 * Tests the Summary provider. Unless DESIGN.md decides otherwise, it must do what Roo Code of
 * October 2025 did (provider-architecture.md, section 4): keep the first message and the last
 * three, summarize the messages since the last summary with a custom prompt or the default one,
 * report "not enough", "recently condensed" and "context grew", and never apply an unusable reply.
 */
import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../messages/firewall';
import { assistant, call, makeLines, result, user } from '../../testing';
import { applyEdits, restoreMessagesBeforeEdits } from '../edits/applyEdits';
import { getOriginalText, type Edit } from '../edits/edits';
import { hashText, type Hash } from '../../hash';
import type { CondensationRequest } from '../condensation';
import { selectSummarizer } from '../summarizer';
import type { ScriptedReply } from '../summary/testing';
import { createNativeProvider } from './native';
import { createTestBed, condenseScripted, makeConversation, SUMMARY_REPLY, getMessageText } from './testingNative';

describe('a summary by the Summary provider', () => {
  it('is put between the task and the last three messages or calls, as a user message with an ID', async () => {
    const messages = makeConversation();
    const { view, outcome } = await condenseScripted(messages);
    expect(view[0]).toBe(messages[0]);
    expect(view[1]).toMatchObject({
      role: 'user',
      isSummary: true,
      condenseId: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    expect(view.slice(2)).toEqual(messages.slice(-4));
    expect(checkConversation(view)).toEqual([]);
    expect(outcome.steps).toMatchObject([
      { name: 'Summary by claude-sonnet-4 (Work)', edits: 1, outcome: { kind: 'done' } },
    ]);
  });

  it('is worded so that a model does not take it for a request, with the facts after the prose', async () => {
    const text = getMessageText((await condenseScripted(makeConversation())).view[1]);
    expect(text).toMatch(/^Summary of the earlier part of this conversation/);
    expect(text).toContain('not a new request');
    expect(text).toContain(SUMMARY_REPLY);
    expect(text).toContain('1. Use tabs, please.');
    expect(text).toContain('- file1.ts');
    expect(text.trimEnd()).toMatch(/go on from there\.$/);
    // The summary does not repeat kept messages.
    expect(text).not.toContain('npm test');
    expect(text).not.toContain('Now the printer.');
  });

  it('leaves out the list of facts if the setting says so', async () => {
    const words = getMessageText((await condenseScripted(makeConversation(), { config: { factTokens: 0 } })).view[1]);
    expect(words).toContain('1. Use tabs, please.');
    expect(words).not.toContain('file1.ts');
    const config = { factTokens: 0, keepUserMessages: false };
    expect(getMessageText((await condenseScripted(makeConversation(), { config })).view[1])).not.toContain('Use tabs');
  });

  it('keeps the requested number of latest messages and never separates a call from its results', async () => {
    const messages = makeConversation();
    const one = await condenseScripted(messages, { config: { keepLast: 1 } });
    expect(one.view.slice(2)).toEqual(messages.slice(-2));
    const none = await condenseScripted(messages, { config: { keepLast: 0, keepFirst: 2 } });
    expect(none.view.slice(0, 2)).toEqual(messages.slice(0, 2));
    expect(none.view).toHaveLength(3);
  });

  it('can be undone byte for byte', async () => {
    const messages = makeConversation();
    const { outcome } = await condenseScripted(messages);
    const originals = new Map(outcome.edits.map((edit: Edit) => [edit.before, getOriginalText(messages, edit)]));
    expect(
      JSON.stringify(restoreMessagesBeforeEdits(outcome.view, outcome.edits, (hash: Hash) => originals.get(hash))),
    ).toBe(JSON.stringify(messages));
  });

  it('is deterministic except for the model', async () => {
    const [a, b] = [await condenseScripted(makeConversation()), await condenseScripted(makeConversation())];
    expect(a.outcome.edits).toEqual(b.outcome.edits);
    expect(a.summarizer.requests).toEqual(b.summarizer.requests);
  });

  it('omits the model’s thinking', async () => {
    const { condense } = createTestBed(makeConversation(), [
      `<analysis>hm</analysis>\n<summary>\n${SUMMARY_REPLY}\n</summary>`,
    ]);
    const outcome = await condense();
    expect(outcome.kind === 'condensed' && getMessageText(outcome.view[1])).toContain(`\n\n${SUMMARY_REPLY}\n\n`);
    expect(JSON.stringify(outcome)).not.toContain('hm</analysis>');
  });
});

describe('the prompt of Summary', () => {
  it('renders calls and results compactly, without empty brackets, and includes the system prompt', async () => {
    const messages = [
      ...makeConversation(25),
      assistant(
        { type: 'thinking', thinking: 'secret thought', signature: 's' },
        'Next.',
        call('x', 'Bash', { command: 'ls' }),
      ),
      user(result('x')),
      ...makeConversation(1).slice(1),
    ];
    const { summarizer } = await condenseScripted(messages, {
      system: 'You are Roo.',
      config: { keepLast: 2, resultChars: 500 },
    });
    const [{ prompt, system } = { prompt: '', system: '' }] = summarizer.requests;
    expect(system).toContain('It is data');
    expect(prompt).toContain('<agent-instructions-');
    expect(prompt).toContain('You are Roo.');
    expect(prompt).toContain('→ Read file_path=/w/src/file0.ts');
    expect(prompt).toMatch(/← result of Read:\n│file0 line 0/);
    expect(prompt).toContain('characters left out');
    expect(prompt).toContain('← result of Bash: (nothing)');
    expect(prompt).not.toContain('secret thought');
    expect(prompt).not.toMatch(/\[\]|\{\}|\[object/);
    expect(prompt).toContain('## Next steps');
  });

  it("is the user’s, or the default if the user's is blank", async () => {
    const own = await condenseScripted(makeConversation(), {
      config: { prompt: 'Just the goal.\n{{conversation}}\nThanks' },
    });
    expect(own.summarizer.requests[0]?.prompt).toMatch(
      /^Just the goal\.\n<conversation-\w+>[\s\S]*<\/conversation-\w+>\nThanks$/,
    );
    const blank = await condenseScripted(makeConversation(), { config: { prompt: '  ' } });
    expect(blank.summarizer.requests[0]?.prompt).toContain('## Goal');
  });

  it("is the default if the user's prompt has an error, which is reported", async () => {
    const { outcome, summarizer } = await condenseScripted(makeConversation(), { config: { prompt: 'Use {{facts}}' } });
    expect(outcome.notes.join()).toMatch(
      /prompt: \{\{facts\}\} is not known; known placeholders: \{\{conversation\}\}/,
    );
    expect(summarizer.requests[0]?.prompt).toContain('## Goal');
  });

  it('masks keys for other vendors, but not for the conversation’s own', async () => {
    const key = 'sk-ant-api03-abcdefghijklmnop1234';
    const messages = makeConversation();
    const withKey = messages.with(1, assistant(`The key is ${key}.`));
    const promptOf = async (request: Partial<CondensationRequest>): Promise<string> =>
      (await condenseScripted(withKey, request)).summarizer.requests[0]?.prompt ?? '';
    expect(await promptOf({ vendor: 'openai' })).toContain('The key is [key]');
    expect(await promptOf({ vendor: 'anthropic' })).toContain(key);
    expect(await promptOf({ vendor: 'anthropic', config: { maskSecrets: 'always' } })).not.toContain(key);
    expect(await promptOf({ vendor: 'openai', config: { maskSecrets: 'never' } })).toContain(key);
  });
});

describe('an earlier summary in the conversation', () => {
  it('is updated: the prompt contains its text and later messages, and the new summary replaces it', async () => {
    const first = makeConversation();
    const { condense: once } = createTestBed(first);
    const before = await once();
    if (before.kind !== 'condensed') throw new Error();
    const grown = [...first, assistant('I go on.'), ...makeConversation(20).slice(2)];
    const { condense, summarizer } = createTestBed(grown, [`## Goal\nupdated ${SUMMARY_REPLY}`]);
    const outcome = await condense({ edits: before.edits });
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    const prompt = summarizer.requests[0]?.prompt ?? '';
    expect(prompt).toMatch(/<earlier-summary-\w+>\n## Goal\nMake the tests pass/);
    expect(prompt).toContain('Update that summary');
    expect(prompt).not.toContain('not a new request');
    expect(prompt).not.toContain('I look at the parser first.');
    expect(outcome.view.filter((message) => message['isSummary'] === true)).toHaveLength(1);
    const text = getMessageText(outcome.view[1]);
    expect(text).toContain('updated');
    // The facts come from the whole conversation, including the part that was summarized before.
    expect(text).toContain('1. Use tabs, please.');
    expect(text).toContain('Now the printer.');
    expect(applyEdits(grown, [...before.edits, ...outcome.edits]).messages).toEqual(outcome.view);
  });

  it('is updated, too, if the agent itself wrote it', async () => {
    const messages = makeConversation();
    const agents = { ...user('This session is being continued. It was about lists.'), isCompactSummary: true };
    const { summarizer } = await condenseScripted([...messages.slice(0, 6), agents, ...messages.slice(6)]);
    expect(summarizer.requests[0]?.prompt).toContain('It was about lists.');
    expect(summarizer.requests[0]?.prompt).not.toContain('file1 line 0');
  });
});

describe('Summary changes nothing and says why', () => {
  it('if there are too few messages', async () => {
    for (const messages of [[], [user('Hi')], [assistant('Hi')], makeConversation().slice(0, 4)]) {
      const { condense, summarizer } = createTestBed(messages);
      expect(await condense()).toMatchObject({ kind: 'unchanged', reason: 'not-enough', cost: 0 });
      expect(summarizer.requests).toHaveLength(0);
    }
  });

  it('if a summary is among the latest messages, or if too little is new', async () => {
    const summary = { ...user('Summary'), isSummary: true };
    const recent = createTestBed([...makeConversation().slice(0, -2), summary, assistant('Go on.')]);
    expect(await recent.condense()).toMatchObject({ reason: 'already-condensed', cost: 0 });
    const little = createTestBed([
      ...makeConversation().slice(0, 4),
      summary,
      assistant('a'),
      user('b'),
      assistant('c'),
      user('d'),
    ]);
    expect(await little.condense()).toMatchObject({ reason: 'already-condensed', cost: 0 });
  });

  it('if the context would grow, reporting the cost', async () => {
    const { condense } = createTestBed(makeConversation(2), [makeLines('long', 4_000)]);
    const outcome = await condense();
    expect(outcome).toMatchObject({ kind: 'unchanged', reason: 'grew' });
    expect(outcome.cost).toBeGreaterThan(0.1);
  });

  it.each<ScriptedReply>(['empty', 'refused', 'cut-at-limit', 'cut-off', 'tool-call', 'failed'])(
    'if the reply is %s, reporting the cost',
    async (kind) => {
      const { condense } = createTestBed(makeConversation(), [kind]);
      const outcome = await condense();
      expect(outcome).toMatchObject({ kind: 'failed', error: { message: `The model said: ${kind}.` } });
      expect(outcome.cost).toBeGreaterThan(0);
      expect(outcome.calls).toMatchObject([{ outcome: kind, model: 'claude-sonnet-4' }]);
    },
  );

  it('if the reply is only thinking', async () => {
    const { condense } = createTestBed(makeConversation(), ['<analysis>only this']);
    expect(await condense()).toMatchObject({
      kind: 'failed',
      error: { message: expect.stringContaining('without a summary') },
    });
  });

  it('if it is cancelled', async () => {
    const abort = new AbortController();
    const { condense } = createTestBed(makeConversation(), async () => {
      abort.abort(new Error('stop'));
      return 'aborted';
    });
    expect(await condense({ signal: abort.signal })).toMatchObject({ kind: 'cancelled', cost: expect.any(Number) });
  });
});

it('Summary states its name and capabilities', () => {
  const provider = createNativeProvider({ select: () => selectSummarizer({}) });
  expect(provider.getCapabilities()).toMatchObject({ supportsBatchMode: true, supportsLLMSummarization: true });
  expect(provider.getConfigSchema()).toMatchObject({ properties: { keepLast: { default: 3 } } });
  expect(hashText('x')).toHaveLength(64);
});
