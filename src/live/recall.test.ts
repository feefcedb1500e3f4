import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { createNativeProvider } from '../core/condense';
import { findMarkers, makeMarker, MARKER_EXAMPLE, MARKER_START, type ReferenceId } from '../core/messages/markers';
import { selectSummarizer } from '../core/condense/summarizer';
import { createTestSummarizer } from '../core/condense/summary/testing';
import { makeToolExchange, makeLines } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import { hashText } from '../core/hash';
import { createTestBed, makeReads, createRequest } from './testing';
import type { LiveConversations } from './liveConversations';
import type { RecallQuery } from './types';
import type { LiveId } from './request';

const SMALL = makeReads(8);
const SUPPRESS = { preserveRecentCount: 2, toolResults: { mode: 'suppress' }, toolParameters: { mode: 'keep' } };

/** Creates a conversation whose old results were suppressed, and their references. */
async function createSuppressedConversation(root: string, messages = SMALL) {
  const { live } = createTestBed(root);
  const { conversation } = await live.prepare(createRequest(messages));
  await live.condenseNow(conversation, { provider: 'truncation', config: SUPPRESS, targetPercent: 1 });
  const references = findMarkers(JSON.stringify(live.view(conversation)?.messages)).map(({ reference }) => reference);
  return { live, id: conversation, references };
}

const summarizing = () =>
  createNativeProvider({ select: () => selectSummarizer({ condensing: createTestSummarizer(['## Goal\nRead.']) }) });

const recalled = async (live: LiveConversations, id: LiveId | undefined, query: RecallQuery): Promise<string> =>
  (await live.recall(id, query)).text;

describe('recalling condensed content by reference', () => {
  it('returns the removed bytes', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const [reference] = references;
      const found = await live.recall(id, { references: [reference!] });
      expect(found).toMatchObject({ kind: 'found', references: [reference], isComplete: true });
      const [head, ...body] = found.text.split('\n');
      expect(head).toBe(`[ref ${reference}: result of Read /src/f0.ts, message 4, lines 1 to 100 of 100]`);
      expect(body.join('\n')).toBe(makeLines('f0', 100));
      expect(hashText(body.join('\n')).startsWith(reference!)).toBe(true);
    }));

  it('accepts several references and whole markers', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const [first, second] = references;
      const text = await recalled(live, id, {
        references: [makeMarker('a result', first!), `ref ${second}`],
        maxTokens: 20_000,
      });
      expect(text).toContain('f0 line 99');
      expect(text).toContain('f1 line 99');
    }));

  it('returns only the requested lines', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const text = await recalled(live, id, { references: [references[0]!], fromLine: 11, toLine: 12 });
      expect(text.split('\n').slice(1)).toEqual(makeLines('f0', 100).split('\n').slice(10, 12));
      expect(await recalled(live, id, { references: [references[0]!], fromLine: 500 })).toContain('100 lines');
    }));

  it('returns only matching lines if search words are given', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const of = references.slice(0, 2);
      const found = await recalled(live, id, { references: of, words: 'LINE 42', toLine: 60 });
      expect(found).toContain(
        `[ref ${of[0]}: result of Read /src/f0.ts, message 4, lines 43 to 43 of 100]\nf0 line 42 with`,
      );
      expect(found).toContain('f1 line 42 with');
      expect(found).not.toContain('line 41 ');
      expect(await recalled(live, id, { references: of, pattern: 'f1 line (7|42) ' })).toBe(
        [
          `[ref ${of[0]}: result of Read /src/f0.ts, message 4, where no line matches, 100 lines]`,
          '',
          `[ref ${of[1]}: result of Read /src/f1.ts, message 6, 100 lines]`,
          '8: f1 line 7 with some words in it',
          '43: f1 line 42 with some words in it',
        ].join('\n'),
      );
      // Agents fill in parameters that they could leave out.
      const whole = await recalled(live, id, { references: of.slice(0, 1), words: '', pattern: '' });
      expect(whole.split('\n').slice(1).join('\n')).toBe(makeLines('f0', 100));
    }));

  it('keeps to the size limit, and says how to get the rest', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const query = { references: [references[0]!], maxTokens: 200 };
      const found = await live.recall(id, query);
      expect(found).toMatchObject({ kind: 'found', isComplete: false });
      expect(createCounter().countText(found.text)).toBeLessThan(300);
      const [, from] = /from line (\d+) of 100/.exec(found.text) ?? [];
      const rest = await recalled(live, id, {
        references: query.references,
        fromLine: Number(from),
        maxTokens: 20_000,
      });
      const shown = [...found.text.split('\n').slice(1, -2), ...rest.split('\n').slice(1)];
      expect(shown.join('\n')).toBe(makeLines('f0', 100));
    }));

  it("stays below 8,192 bytes, VS Code's limit for a message, unless more was requested", () =>
    inTemporaryFolder(async (root) => {
      const rulers = Array.from({ length: 400 }, (_, index) => `${'-'.repeat(64)} ${index}`).join('\n');
      const { live, id, references } = await createSuppressedConversation(root, [
        ...SMALL.slice(0, 2),
        ...makeToolExchange('one', 'Read', { file_path: '/rulers.txt' }, rulers),
        ...SMALL.slice(2),
      ]);
      const query = { references: [references[0]!] };
      const found = await live.recall(id, query);
      expect(found).toMatchObject({ isComplete: false });
      expect(Buffer.byteLength(found.text)).toBeLessThan(8_192);
      expect(createCounter().countText(found.text)).toBeLessThan(1_500);
      expect(await live.recall(id, { ...query, maxTokens: 20_000 })).toMatchObject({ isComplete: true });
    }));

  it('folds a line that is longer than any limit', () =>
    inTemporaryFolder(async (root) => {
      const long = Array.from({ length: 4_000 }, (_, index) => `word${index}`).join(' ');
      const { live, id, references } = await createSuppressedConversation(root, [
        ...SMALL.slice(0, 2),
        ...makeToolExchange('one', 'Read', { file_path: '/a.min.js' }, long),
        ...SMALL.slice(2),
      ]);
      const found = await live.recall(id, { references: [references[0]!] });
      expect(found).toMatchObject({ isComplete: false });
      expect(found.text).toContain('word0 word1');
    }));

  it('handles results with more lines than an answer or a batch of the search can contain', () =>
    inTemporaryFolder(async (root) => {
      const many = Array.from({ length: 45_000 }, (_, index) => (index % 2 === 0 ? `${index}` : '')).join('\n');
      const { live, id, references } = await createSuppressedConversation(root, [
        ...SMALL.slice(0, 2),
        ...makeToolExchange('one', 'Bash', { command: 'seq' }, many),
        ...SMALL.slice(2),
      ]);
      const query = { references: references.slice(0, 1), maxTokens: 20_000 };
      // Matching lines that no longer fit are still counted, up to the last one.
      const found = await live.recall(id, { ...query, pattern: '^\\d*$' });
      const [, count, from] = /left out: (\d+) lines of ref \w+ from line (\d+) of/.exec(found.text) ?? [];
      expect(Number(count)).toBe(45_000 - (Number(from) - 1));
      const read = await recalled(live, id, { ...query, fromLine: 29_997, toLine: 30_005 });
      expect(read.split('\n').slice(1)).toEqual(many.split('\n').slice(29_996, 30_005));
      expect(await recalled(live, id, { ...query, words: '3000 ', fromLine: 20_001 })).toContain('\n30001: 30000\n');
      expect(await recalled(live, id, query)).toContain(`lines 1 to ${Number(from) - 1} of 45000]`);
    }));

  it('reports unknown references by name', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      expect(await live.recall(id, { references: ['abcdef99'] })).toMatchObject({ kind: 'nothing' });
      expect(await live.recall(id, { references: ['no number'] })).toMatchObject({ kind: 'nothing' });
      expect(await live.recall(id, {})).toMatchObject({ kind: 'nothing' });
      const both = await recalled(live, id, { references: ['abcdef99', references[0]!] });
      expect(both).toContain('nothing is known');
      expect(both).toContain('f0 line 99');
    }));

  it('searches all conversations if none is named, even after a restart', () =>
    inTemporaryFolder(async (root) => {
      const { references } = await createSuppressedConversation(root);
      const { live } = createTestBed(root);
      await live.prepare(createRequest(makeReads(1), { conversationId: 'other' }));
      expect((await live.recall(undefined, { references: [references[0]!] })).kind).toBe('nothing');
      await live.prepare(createRequest(SMALL));
      expect(await recalled(live, undefined, { references: [references[0]!] })).toContain('f0 line 99');
    }));

  it('returns summarized messages as a transcript', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { providers: [summarizing()] });
      const { conversation } = await live.prepare(createRequest(SMALL));
      await live.condenseNow(conversation, { provider: 'native' });
      const text = await recalled(live, conversation, { words: 'f0 99' });
      expect(text).toContain('f0 line 99');
      expect(text).toContain('messages, from message 3');
    }));
});

describe('recalling condensed content by search words', () => {
  it('finds lines with all words in any case, with their numbers', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const found = await live.recall(id, { words: 'F3 LINE 42' });
      expect(found).toMatchObject({ kind: 'found', references: [references[3]] });
      expect(found.text).toContain('lines 43 to 43 of 100]\nf3 line 42 with some words in it');
    }));

  it('finds lines by a regular expression', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await createSuppressedConversation(root);
      const text = await recalled(live, id, { pattern: '^f[12] line (7|42) ' });
      expect(text).toContain('8: f1 line 7 with');
      expect(text).toContain('43: f2 line 42 with');
      expect(text).not.toContain('f3');
    }));

  it('skips lines that are still in the conversation', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await createSuppressedConversation(root);
      // The conversation was dropped, and others are not searched.
      const dropped = 'dropped' as LiveId;
      expect(await live.recall(dropped, { words: 'F3 LINE 42' })).toMatchObject({ kind: 'nothing' });
      expect(await live.recall(dropped, { pattern: 'f3 line' })).toMatchObject({ kind: 'nothing' });
      expect((await live.recall(id, { words: 'f7 line 1' })).kind).toBe('nothing');
    }));

  it('explains an invalid regular expression', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await createSuppressedConversation(root);
      expect(await recalled(live, id, { pattern: '(' })).toContain('no regular expression');
      expect((await live.recall(id, { pattern: '\\_x{' })).kind).toBe('nothing');
    }));

  it('stops a regular expression that would never end', () =>
    inTemporaryFolder(async (root) => {
      const evil = [
        ...SMALL.slice(0, 2),
        ...makeToolExchange('evil', 'Read', { file_path: '/a' }, `${'a'.repeat(2_000)}!`),
      ];
      const { live, id } = await createSuppressedConversation(root, [...evil, ...SMALL.slice(2)]);
      expect(await recalled(live, id, { pattern: '^(a+)+$' })).toContain('takes too long');
    }));
});

describe("markers that a model writes into a tool call's parameters", () => {
  it('are expanded byte for byte anywhere in the text', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const [first, second] = references.map((reference) => makeMarker('result suppressed', reference));
      const input = {
        path: 'a',
        edits: [{ old: `x\n${first}\ny ${second}` }, 7, null],
        content: second,
        [MARKER_START]: true,
      };
      const expanded = await live.expandMarkers(id, input);
      const [f0, f1] = [makeLines('f0', 100), makeLines('f1', 100)];
      expect(expanded).toEqual({
        input: { path: 'a', edits: [{ old: `x\n${f0}\ny ${f1}` }, 7, null], content: f1, [MARKER_START]: true },
      });
    }));

  it('leave the parameters unchanged if there are none', () =>
    inTemporaryFolder(async (root) => {
      const { live, id } = await createSuppressedConversation(root);
      const input = { content: `text ${MARKER_START.charAt(0)} of another kind` };
      const expanded = await live.expandMarkers(id, input);
      expect('input' in expanded && expanded.input).toBe(input);
    }));

  it('stay unchanged if they are quoted from a file, even next to a marker of the conversation', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const literal = `see ${makeMarker('lines', 'abcdef99' as ReferenceId)} and ${MARKER_EXAMPLE}`;
      const input = { content: literal };
      expect(await live.expandMarkers(id, input)).toEqual({ input });
      const both = `${literal} ${makeMarker('result suppressed', references[0]!)}`;
      expect(await live.expandMarkers(id, [both])).toEqual({ input: [`${literal} ${makeLines('f0', 100)}`] });
    }));

  it('are rejected with a message if they are malformed', () =>
    inTemporaryFolder(async (root) => {
      const { live, id, references } = await createSuppressedConversation(root);
      const [edit] = live.view(id)?.edits ?? [];
      const [shown] = findMarkers(edit?.kind === 'cut' ? (edit.cuts[0]?.text ?? '') : '');
      const what = shown?.what ?? '';
      expect(what).not.toBe('');
      const whole = makeMarker(what, references[0]!);
      const withoutReference = whole.replace(references[0]!, '');
      for (const broken of [whole.replace(references[0]!, `: $&`), withoutReference, withoutReference.slice(0, -1)]) {
        expect(await live.expandMarkers(id, [`${makeMarker('x', references[1]!)} ${broken}`])).toMatchObject({
          error: expect.stringContaining('not written as it stands') as string,
        });
      }
    }));

  it('are rejected if they stand for a summary, since no file contains messages', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { providers: [summarizing()] });
      const { conversation } = await live.prepare(createRequest(SMALL));
      await live.condenseNow(conversation, { provider: 'native' });
      const summary = live.view(conversation)?.edits.find(({ kind }) => kind === 'summary');
      const reference = summary?.kind === 'summary' ? summary.reference : undefined;
      expect(await live.expandMarkers(conversation, { text: makeMarker('messages', reference!) })).toHaveProperty(
        'error',
      );
    }));

  it('are left unchanged if the conversation is unknown', () =>
    inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root);
      expect(await live.expandMarkers('gone' as LiveId, 'x')).toEqual({ input: 'x' });
    }));
});
