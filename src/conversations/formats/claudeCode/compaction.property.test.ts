import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  boundary,
  summary,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { outline, readRecords } from './testing';
import { getNoteText } from '../../notes';

/**
 * Some turns, then a compaction, which keeps no messages, keeps messages from before it, was
 * prepared beforehand, or writes kept messages again under their UUIDs.
 */
const segment = fc.record({
  turns: fc.integer({ min: 1, max: 4 }),
  compaction: fc.constantFrom('plain', 'keeping', 'precomputed', 'rewritten'),
});

interface Session {
  readonly messages: string[];
  readonly records: Fields[];
}

/** Creates the records of a session that was never rewound, and the text of each message. */
function session(segments: readonly { turns: number; compaction: string }[]): Session {
  const messages: string[] = [];
  const records: Fields[] = [];
  let leaf: string | null = null;
  let count = 0;
  const say = (): string => {
    const uuid = `r${count++}`;
    const isPerson = count % 2 === 1;
    messages.push(`${isPerson ? 'user' : 'assistant'}: ${uuid}`);
    records.push(isPerson ? user(uuid, leaf, uuid) : assistant(uuid, leaf, `m${uuid}`, makeTextBlock(uuid)));
    return (leaf = uuid);
  };
  segments.forEach(({ turns, compaction }, index) => {
    for (let turn = 0; turn < 2 * turns; turn++) say();
    const [mark, head] = [`b${index}`, `s${index}`];
    const kept = (uuids: readonly string[]) => ({ preservedMessages: { anchorUuid: head, uuids } });
    if (compaction === 'precomputed') {
      // The kept messages come after the boundary, although the boundary names the last of them as
      // the message before it.
      const names = [`r${count}`, `r${count + 1}`];
      records.push(boundary(mark, names[1] as string, { precomputed: true, ...kept(names) }), summary(head, mark));
      messages.push(`user: ${head}`);
      leaf = head;
      say();
      say();
      return;
    }
    const names = compaction === 'plain' ? [] : [`r${count - 2}`, `r${count - 1}`];
    const originals = records.slice(-2);
    records.push(boundary(mark, `r${count - 1}`, names.length > 0 ? kept(names) : {}), summary(head, mark));
    messages.push(`user: ${head}`);
    leaf = head;
    if (compaction !== 'rewritten') return;
    for (const original of originals) {
      records.push({ ...original, parentUuid: leaf });
      leaf = String(original['uuid']);
    }
  });
  say();
  return { messages, records };
}

it('a compacted Claude Code session is read with every message once', () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const { messages, records } = session(segments);
      const all = readRecords(records, { history: 'all' });
      const said = outline(all.messages).map((line, index) =>
        all.messages[index]?.['isCompactSummary'] === true ? 'summary' : line,
      );
      const expected = messages.map((line) => (line.startsWith('user: s') ? 'summary' : line));
      expect(said.toSorted()).toEqual(expected.toSorted());
      expect(all.notes.map(getNoteText).join()).not.toContain('newest branch');
      // The active part ends like the whole history. Before that they may differ in what a
      // compaction kept.
      expect(outline(readRecords(records).messages).at(-1)).toBe(messages.at(-1));
    }),
  );
});

it("a Claude Code session whose compaction kept no messages is read in the file's order", () => {
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const { messages, records } = session(
        segments.map((one) => ({ ...one, compaction: one.compaction === 'precomputed' ? one.compaction : 'plain' })),
      );
      const { messages: all } = readRecords(records, { history: 'all' });
      const said = outline(all).map((line, index) => (all[index]?.['isCompactSummary'] === true ? 'summary' : line));
      expect(said).toEqual(messages.map((line) => (line.startsWith('user: s') ? 'summary' : line)));
    }),
  );
});
