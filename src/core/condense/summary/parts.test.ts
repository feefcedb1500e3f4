import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, call, makeToolExchange, result, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import { cutMiddle, packTextsIntoChunks, createTranscript } from './transcript';
import { getDefaultOutputTokens, estimateOutputTokens } from './expectedOutput';
import { buildSummaryPrompt, fenceInTags, validateCustomPrompt, extractSummary } from './prompt';
import { SentPromptMemory } from './promptMemory';
import { chooseSummaryRange, findStartsOfInseparableMessages } from './range';
import { extractSummaryProse, createSummaryMessage, formatSummaryText } from './summaryMessage';
import { makeTestModel } from './testing';

describe('fencing a text for a prompt', () => {
  it('encloses a text in tags that it cannot contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const [open = '', ...rest] = fenceInTags('data', text).split('\n');
        expect(text).not.toContain(open.slice(1, -1));
        expect(rest.at(-1)).toBe(`</${open.slice(1)}`);
      }),
    );
    expect(fenceInTags('data', 'a')).toBe(fenceInTags('data', 'a'));
    expect(fenceInTags('data', 'a')).not.toBe(fenceInTags('data', 'b'));
  });
});

describe('the prompt for a summary', () => {
  it('puts the conversation or the earlier summary where a custom prompt asks for it, and everything else first', () => {
    const { prompt } = buildSummaryPrompt({
      conversation: 'talk',
      earlier: 'before',
      custom: 'Earlier: {{ earlier_summary }}\nWrite.',
    });
    expect(prompt).toMatch(
      /^The conversation:\n<conversation-\w+>\ntalk\n<\/conversation-\w+>\n\nThe conversation goes on[\s\S]*\n\nEarlier: <earlier-summary-\w+>\nbefore/,
    );
    expect(buildSummaryPrompt({ conversation: 'talk', custom: '{{system}}|{{earlier_summary}}|' }).prompt).toMatch(
      /\n\n\|\|$/,
    );
    expect(buildSummaryPrompt({ conversation: 'talk', custom: 'keep {{other}}' }).prompt).toContain('keep {{other}}');
  });

  it('is validated', () => {
    expect(validateCustomPrompt('Fine {{conversation}}')).toEqual([]);
    expect(validateCustomPrompt('{{}} {{x}}').map(({ message }) => message)).toEqual([
      expect.stringContaining('{{}} is not known'),
      expect.stringContaining('{{x}} is not known'),
    ]);
    expect(validateCustomPrompt('x'.repeat(40_000))[0]?.message).toContain('at most 32,000');
  });

  it('yields the reply without the thinking that the model wrote in tags', () => {
    expect(extractSummary('<thinking>a</thinking>\n<summary>b')).toBe('b');
    expect(extractSummary(' plain ')).toBe('plain');
    expect(extractSummary('<analysis>never ends')).toBe('');
    expect(extractSummary('<analysis>a</analysis><thinking>b</thinking> c')).toBe('c');
  });

  it('yields the whole reply if it merely mentions the tags of a summary', () => {
    for (const summary of [
      '## Done\nThe parser drops `<thinking>` blocks.\n## Next steps\nNone',
      '## Done\n<analysis>x</analysis> is shown.',
      'README has <details><summary>More</summary></details> now.\n## Next steps\nNone',
    ]) {
      expect(extractSummary(summary)).toBe(summary);
      expect(extractSummary(`<analysis>a</analysis>\n<summary>\n${summary}\n</summary>\nDone.`)).toBe(summary);
    }
  });
});

describe('the summary message', () => {
  it("is read back as the model's text", () => {
    for (const facts of ['', '### Files changed\n- a'])
      expect(extractSummaryProse(formatSummaryText('## Goal\nx', facts))).toBe('## Goal\nx');
    expect(extractSummaryProse('of another agent')).toBe('of another agent');
  });

  it('has an ID derived from its text', () => {
    expect(createSummaryMessage('a')).toEqual(createSummaryMessage('a'));
    expect(createSummaryMessage('a')['condenseId']).not.toBe(createSummaryMessage('b')['condenseId']);
  });
});

describe('the range of messages to summarize', () => {
  const messages = [
    user('Task'),
    assistant('a'),
    ...makeToolExchange('1', 'Read', {}, 'x'),
    assistant(call('2', 'Read')),
    user('interrupts'),
    user('b'),
    assistant('c'),
  ];

  it('never separates a call from its results', () => {
    expect(findStartsOfInseparableMessages(messages)).toEqual([0, 1, 2, 4, 5, 6, 7]);
    expect(chooseSummaryRange(messages, 1, 2)).toMatchObject({
      range: { start: 1, end: 6 },
      newRange: { start: 1, end: 6 },
    });
    expect(chooseSummaryRange(messages, 2, 5)).toMatchObject({ kind: 'not-enough' });
    expect(chooseSummaryRange(messages, 3, 1)).toMatchObject({ range: { start: 4, end: 7 } });
    expect(chooseSummaryRange(messages, 9, 1)).toMatchObject({ kind: 'not-enough' });
  });

  it('is the longest one without pinned messages, and keeps calls together with their results', () => {
    const messages = [
      user('task'),
      assistant('a'),
      ...makeToolExchange('1', 'Read', {}, 'x'),
      user('b'),
      assistant('c'),
      ...makeToolExchange('2', 'Read', {}, 'y'),
      user('d'),
    ];
    const range = (...pinned: number[]) =>
      chooseSummaryRange(messages, 1, 1, undefined, (index) => pinned.includes(index));
    expect(range()).toMatchObject({ range: { start: 1, end: 8 } });
    expect(range(3)).toMatchObject({ range: { start: 4, end: 8 } });
    expect(range(7)).toMatchObject({ range: { start: 1, end: 6 } });
    expect(range(1, 4, 7)).toMatchObject({ range: { start: 2, end: 4 } });
    expect(range(1, 2, 4, 5, 6)).toMatchObject({ kind: 'not-enough' });
  });
});

describe("the transcript in a summary's prompt", () => {
  const limits = { resultChars: 40, parameterChars: 20 };

  it('contains every kind of block', () => {
    const shown = createTranscript(
      [
        { role: 'system', content: 'Rules' },
        user('Look', { type: 'image', source: {} }),
        assistant(call('1', 'Edit', { file_path: 'a', new_string: 'x\ny', n: 3 }), call('2', 'Odd', 'text')),
        user(
          result('1', [{ type: 'text', text: 'ok' }, { type: 'image' }, { result: 'r' } as never, 7 as never]),
          result('2', 'bad', { is_error: true }),
          result('3', undefined),
          result('4', 7 as never),
        ),
        assistant({ type: 'redacted_thinking', data: 'x' }),
        assistant(' '),
      ],
      { start: 0, end: 6 },
      limits,
    );
    const [nonce = ''] = /(?<=\[1 )\w{4}/.exec(shown[0] ?? '') ?? [];
    expect(shown.map((text) => text.replace(` ${nonce}]`, ']'))).toEqual([
      '[1] system:\n│Rules',
      '[2] user:\n│Look\n(image)',
      '[3] assistant:\n→ Edit file_path=a\n  new_string:\n│x\n│y\n  n=3\n→ Odd "text"',
      '[4] user:\n← result of Edit:\n│ok\n│(image)\n│r\n│\n← error of Odd:\n│bad\n← result of a tool: (nothing)\n← result of a tool: (nothing)',
    ]);
  });

  it('shortens results and parameters written as XML like native ones, but no prose', () => {
    const prose = 'I think about it for a long time. '.repeat(4).trim();
    const [call1 = '', result1 = ''] = createTranscript(
      [
        assistant(`${prose}\n<write_to_file><path>a</path><content>${'x'.repeat(500)}</content></write_to_file>`),
        user({ type: 'text', text: `[write_to_file for 'a'] Result:\n\n${'y'.repeat(500)}` }),
      ],
      { start: 0, end: 2 },
      limits,
    );
    expect(call1).toContain(prose);
    expect(call1).toMatch(/x+\n│… \(480 characters left out\) …\n│x+/);
    expect(result1).toMatch(/Result:\n│\n│y{24}\n│… \(460 characters left out\) …\n│y{16}$/);
  });

  it('shortens long texts in the middle', () => {
    expect(cutMiddle('short', 10)).toBe('short');
  });
});

describe("chunks of a summary's transcript", () => {
  const counter = createCounter();
  const count = (text: string): number => counter.countText(text);

  it('contain all texts in order, each within the budget', () => {
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 60 })), fc.integer({ min: 12, max: 80 }), (texts, budget) => {
        const chunks = packTextsIntoChunks(texts, budget, count);
        for (const chunk of chunks) expect(count(chunk)).toBeLessThanOrEqual(budget);
        expect(chunks.join('').replaceAll('\n\n', '')).toBe(texts.join(''));
      }),
    );
  });

  it('split a long text at a line end', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line number ${index}`).join('\n');
    const chunks = packTextsIntoChunks([text], 60, count);
    expect(chunks.length).toBeGreaterThan(4);
    for (const chunk of chunks.slice(0, -1)) expect(chunk).toMatch(/\n$/);
    expect(chunks.join('')).toBe(text);
  });
});

describe('the expected length of a summary', () => {
  it("is the length of real agents' summaries as long as there are no earlier summaries", () => {
    expect(getDefaultOutputTokens(100_000)).toBe(2_000);
    expect(getDefaultOutputTokens(5_000)).toBe(1_350);
    expect(estimateOutputTokens(100_000, [])).toBe(2_000);
    expect(estimateOutputTokens(100_000, [], 1.5)).toBe(3_000);
  });

  it('follows the lengths of earlier summaries as soon as there are some', () => {
    const samples = Array.from({ length: 9 }, () => ({ inputTokens: 100_000, outputTokens: 4_000 }));
    const expected = estimateOutputTokens(100_000, [{ inputTokens: 0, outputTokens: 9 }, ...samples]);
    expect(expected).toBeGreaterThan(3_600);
    expect(expected).toBeLessThan(4_000);
  });
});

describe('the expected length of a summary of one result', () => {
  it('follows earlier summaries of results of similar length', () => {
    const asked = { askedTokens: 150 };
    const short = Array.from({ length: 30 }, () => ({ ...asked, inputTokens: 230, outputTokens: 30 }));
    const long = Array.from({ length: 5 }, () => ({ ...asked, inputTokens: 2_000, outputTokens: 170 }));
    const expected = (inputTokens: number): number => estimateOutputTokens(inputTokens, [...long, ...short], 1, 150);
    expect(Math.abs(expected(230) - 30)).toBeLessThan(6);
    expect(Math.abs(expected(2_000) - 170)).toBeLessThan(34);
    // If no earlier run was similar, all earlier runs count.
    expect(estimateOutputTokens(2_000, short, 1, 150)).toBeLessThan(estimateOutputTokens(2_000, [], 1, 150));
  });
});

describe('the forecast of a vendor’s prompt cache', () => {
  let now = 0;
  const text = 'word '.repeat(4_000);
  const memory = (): SentPromptMemory => {
    now = 1_000_000;
    return new SentPromptMemory(() => now);
  };

  it('for OpenAI is the common prefix in whole steps of tokens, and expires after five minutes', () => {
    const model = makeTestModel({ vendor: 'openai', accounting: 'openai' });
    const known = memory();
    expect(known.estimateCachedTokens(model, text, 4_001)).toEqual({ read: 0, write: 0 });
    known.recordPrompt(model, text);
    expect(known.estimateCachedTokens(model, text, 4_001)).toEqual({ read: 3_968, write: 0 });
    expect(known.estimateCachedTokens(model, `${text.slice(0, 2_000)}other`, 401)).toEqual({ read: 0, write: 0 });
    expect(known.estimateCachedTokens({ ...model, model: 'other' }, text, 4_001)).toEqual({ read: 0, write: 0 });
    now += 300_001;
    expect(known.estimateCachedTokens(model, text, 4_001)).toEqual({ read: 0, write: 0 });
    expect(known.estimateCachedTokens(model, '', 0)).toEqual({ read: 0, write: 0 });
  });

  it('for Anthropic is the marked prefix, which is written once and then read', () => {
    const known = memory();
    const marked = makeTestModel({ cacheLifetime: '1h' });
    expect(known.estimateCachedTokens(makeTestModel(), text, 4_000)).toEqual({ read: 0, write: 0 });
    expect(known.estimateCachedTokens(marked, text, 4_000)).toEqual({ read: 0, write: 4_000 });
    expect(known.estimateCachedTokens(marked, 'short', 2)).toEqual({ read: 0, write: 0 });
    known.recordPrompt(marked, text);
    expect(known.estimateCachedTokens(marked, text, 4_000)).toEqual({ read: 4_000, write: 0 });
  });
});
