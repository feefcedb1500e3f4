import { describe, expect, it } from 'vitest';
import {
  assistant,
  boundary,
  summary,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { readRecords, outline } from './testing';
import { getNoteText, listOmissions } from '../../notes';

describe('compaction in a Claude Code session', () => {
  const compacted = [
    user('u1', null, 'the task'),
    assistant('a1', 'u1', 'm1', makeTextBlock('working')),
    boundary('b1', 'a1'),
    summary('s1', 'b1'),
    assistant('a2', 's1', 'm2', makeTextBlock('going on')),
  ];

  it('makes reading start at the last compaction boundary, as resuming does, and a note says what is omitted', () => {
    const { messages, notes, title } = readRecords(compacted);
    expect(outline(messages)).toEqual([expect.stringContaining('user: This session'), 'assistant: going on']);
    expect(messages[0]).toMatchObject({ isCompactSummary: true });
    expect(listOmissions(notes)).toEqual([
      'Left out, before the last compaction: 2 messages (“Part to condense: Everything” or --history all has them).',
    ]);
    expect(title).toBe('the task');
  });

  it('is ignored if the whole history ("all") is requested', () => {
    const { messages, notes } = readRecords(compacted, { history: 'all' });
    expect(outline(messages).map((line) => line.slice(0, 18))).toEqual([
      'user: the task',
      'assistant: working',
      'user: This session',
      'assistant: going o',
    ]);
    expect(notes.map(getNoteText).join()).not.toContain('before the last compaction');
  });

  it('is read with the older messages, up to the last one before the boundary, if the logical parent is missing', () => {
    const records = compacted.map((fields) =>
      fields['uuid'] === 'b1' ? { ...fields, logicalParentUuid: 'gone' } : fields,
    );
    expect(readRecords(records, { history: 'all' }).messages).toHaveLength(4);
    const without = compacted.map((fields) =>
      fields['uuid'] === 'b1' ? { ...fields, logicalParentUuid: null } : fields,
    );
    expect(readRecords(without, { history: 'all' }).messages).toHaveLength(4);
  });

  it('applies only the last boundary if there are several', () => {
    const again = [...compacted, boundary('b2', 'a2'), summary('s2', 'b2'), user('u9', 's2', 'next')];
    expect(outline(readRecords(again).messages)).toEqual([expect.stringContaining('This session'), 'user: next']);
    expect(readRecords(again, { history: 'all' }).messages).toHaveLength(6);
  });

  it('leaves only the summary if no message follows', () => {
    expect(readRecords(compacted.slice(0, 4)).messages).toHaveLength(1);
  });

  describe('that kept messages', () => {
    const before = [
      user('u1', null, 'the task'),
      assistant('a1', 'u1', 'm1', makeTextBlock('working')),
      user('u2', 'a1', 'kept question'),
      assistant('a2', 'u2', 'm2', makeTextBlock('kept answer')),
    ];
    const after = [summary('s1', 'b1'), user('u3', 's1', 'next')];
    const segment = { headUuid: 'u2', tailUuid: 'a2', anchorUuid: 's1' };
    const expected = [
      expect.stringContaining('This session'),
      'user: kept question',
      'assistant: kept answer',
      'user: next',
    ];

    it.each([
      ['named by head and tail', { preservedSegment: segment }],
      ['named one by one', { preservedMessages: { anchorUuid: 's1', uuids: ['u2', 'a2'] } }],
      [
        'of which some are gone',
        { preservedMessages: { anchorUuid: 's1', allUuids: ['u2', 'gone', 'a2'], uuids: [] } },
      ],
    ])('puts kept messages %s after the summary', (_, metadata) => {
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(outline(readRecords(records).messages)).toEqual(expected);
      expect(outline(readRecords(records, { history: 'all' }).messages)).toEqual([
        'user: the task',
        'assistant: working',
        ...expected,
      ]);
    });

    it('puts the kept messages before the summary if the boundary is the anchor', () => {
      const metadata = { preservedSegment: { ...segment, anchorUuid: 'b1' } };
      expect(outline(readRecords([...before, boundary('b1', 'a2', metadata), ...after]).messages)).toEqual([
        'user: kept question',
        'assistant: kept answer',
        expect.stringContaining('This session'),
        'user: next',
      ]);
    });

    it('is read correctly whether or not a message follows the last kept one', () => {
      const records = [...before, boundary('b1', 'a2', { preservedSegment: segment }), summary('s1', 'b1')];
      expect(outline(readRecords([...records, user('u3', 'a2', 'next')]).messages)).toEqual(expected);
      expect(outline(readRecords(records).messages)).toEqual(expected.slice(0, 3));
    });

    it('is read correctly if the kept messages were written again with the same uuid', () => {
      const metadata = { preservedMessages: { anchorUuid: 's1', uuids: ['u2', 'a2'] } };
      const copies = before.slice(2);
      const records = [...before, boundary('b1', 'a2', metadata), ...copies, ...after];
      expect(outline(readRecords(records).messages)).toEqual(expected);
    });

    it.each([
      ['the anchor is not in the file', { preservedSegment: { ...segment, anchorUuid: 'gone' } }],
      ['the walk misses the head', { preservedSegment: { ...segment, headUuid: 'gone' } }],
      ['the tail is missing', { preservedSegment: { headUuid: 'u2', anchorUuid: 's1' } }],
    ])('moves no message if %s', (_, metadata) => {
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(outline(readRecords(records).messages)).toEqual([expect.stringContaining('This session'), 'user: next']);
    });

    it('is read correctly if all messages were kept', () => {
      const metadata = { preservedSegment: { ...segment, headUuid: 'u1' } };
      const records = [...before, boundary('b1', 'a2', metadata), ...after];
      expect(readRecords(records, { history: 'all' }).messages).toHaveLength(6);
    });
  });
});
