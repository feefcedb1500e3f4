/**
 * Checks the invariants (docs/ARCHITECTURE.md) for every provider without a model, on generated
 * histories.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { restoreMessagesBeforeEdits } from '../../src/core/condense/edits/applyEdits';
import { selectLastEditPerPlace, getOriginalText, type CutEdit, type Edit } from '../../src/core/condense/edits/edits';
import { expandReference, collectReferences } from '../../src/core/condense/edits/references';
import { listCuts } from '../../src/core/testing';
import { expandMarkers, MARKER_START } from '../../src/core/messages/markers';
import type { Hash } from '../../src/core/hash';
import { listContents, type Content } from '../../src/core/messages/content';
import { checkConversation, findNewViolations } from '../../src/core/messages/firewall';
import { getValueAt, replaceValueAt } from '../../src/core/messages/path';
import type { ApiMessage } from '../../src/core/messages/types';
import { anyHistory, validHistory } from '../generators/arbitraries';
import { condense, freshCounter, losslessSetup, setup, type Outcome, type Setup } from '../generators/setups';

const HISTORIES = { 'valid histories': validHistory, 'imperfect histories': anyHistory };

type History = readonly ApiMessage[];

/** Checks a statement for random histories and setups. */
const holds = (
  histories: fc.Arbitrary<History>,
  statement: (history: History, outcome: Outcome, setup: Setup) => void | Promise<void>,
  setups = setup,
): Promise<void> =>
  fc.assert(
    fc.asyncProperty(histories, setups, async (history, chosen) => {
      await statement(history, await condense(chosen, history), chosen);
    }),
  );

const originalText = (history: History, edit: CutEdit): string =>
  getValueAt(history[edit.place.message], edit.place.path) as string;

/** Returns originals by hash, including those of whole blocks such as repeated images. */
const collectOriginals = (history: History, edits: readonly Edit[]): ((hash: Hash) => string | undefined) => {
  const originals = new Map(edits.map((edit) => [edit.before, getOriginalText(history, edit)]));
  return (hash) => originals.get(hash);
};

/** Removes the path and number that read and search tools add before a line. */
const plainLine = (line: string): string => line.replace(/^(?:[^\s:]+[:-])?(?: *\d+(?:→|\t| \| ?|[:-]))?/, '').trim();

/** Lists the lines of a text that aren't blank, as they are and without path and number. */
const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => [line.trim(), plainLine(line)])
    .filter((line) => line !== '');

/** Lists the lines of which a slice removes more than blanks. */
function linesAround(text: string, start: number, end: number): string[] {
  const lines: string[] = [];
  let at = text.lastIndexOf('\n', start - 1) + 1;
  for (const line of text.slice(at, `${text}\n`.indexOf('\n', end)).split('\n')) {
    const taken = text.slice(Math.max(at, start), Math.min(at + line.length, end));
    // Only the removed part counts, because the rest of the line may be XML markup.
    if (plainLine(taken).trim() !== '') lines.push(plainLine(taken));
    at += line.length + 1;
  }
  return lines;
}

const linesOfView = (view: History): Set<string> =>
  new Set(view.flatMap((message) => listContents(message).flatMap(({ text }) => linesIn(text))));

describe('the test generator of valid histories', () => {
  it('creates histories that pass the validity check', () => {
    fc.assert(
      fc.property(validHistory, (history) => {
        // Valid histories may contain lone surrogates; cuts must not add any.
        const violations = checkConversation(history).filter(({ rule }) => rule !== 'text-well-formed');
        expect(violations).toEqual([]);
      }),
    );
  });
});

const getString = (message: ApiMessage, { path }: Content): string => getValueAt(message, path) as string;

const getSlice = (message: ApiMessage, content: Content): string =>
  getString(message, content).slice(content.start, content.end);

/** Replaces a content's text in a message. */
function put(message: ApiMessage, content: Content, text: string): ApiMessage {
  const string = getString(message, content);
  return replaceValueAt(message, content.path, string.slice(0, content.start) + text + string.slice(content.end));
}

describe.each(Object.entries(HISTORIES))('histories condensed by %s', (_, histories) => {
  it('have contents that are slices of their strings', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const message of history) {
          for (const content of listContents(message)) expect(getSlice(message, content)).toBe(content.text);
        }
      }),
    );
  });

  it('change only in the edited contents', () => {
    fc.assert(
      fc.property(histories, (history) => {
        for (const message of history) {
          const contents = listContents(message);
          // The order is reversed, so that earlier offsets in the same string stay valid.
          const changed = contents.reduceRight((made, content) => put(made, content, `<${content.text}>`), message);
          expect(JSON.stringify(changed).length).toBe(JSON.stringify(message).length + 2 * contents.length);
          const back = contents.reduce(
            (made, content) => put(made, { ...content, end: content.end + 2 }, content.text),
            changed,
          );
          expect(back).toEqual(message);
        }
      }),
    );
  });

  it('get no new violations', () =>
    holds(histories, (history, { view }) => {
      expect(findNewViolations(history, view)).toEqual([]);
    }));

  it('cause no failed steps or stale edits', () =>
    holds(histories, (_history, { result, stale }) => {
      expect(result.steps.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
      expect(stale).toEqual([]);
    }));

  it('keep the order of the messages, and the task', () =>
    holds(histories, (history, { view }) => {
      expect(view.map(({ role }) => role)).toEqual(history.map(({ role }) => role));
      const first = history.findIndex(({ role }) => role === 'user');
      expect(view.slice(0, first + 1)).toEqual(history.slice(0, first + 1));
    }));

  it('never get more tokens, in total or in one message, and match the report', () =>
    holds(histories, (history, { view, result }) => {
      const counter = freshCounter();
      const before = history.map((message) => counter.countMessage(message));
      const after = view.map((message) => counter.countMessage(message));
      after.forEach((tokens, index) => {
        expect(tokens).toBeLessThanOrEqual(before[index] ?? 0);
      });
      // If all operations of a setup are off, there are no steps.
      if (result.steps.length === 0) return;
      expect(result.steps[0]?.tokensBefore).toBe(counter.countMessages(history));
      expect(result.steps.at(-1)?.tokensAfter).toBe(counter.countMessages(view));
    }));

  it('have the same bytes each time', () =>
    holds(histories, async (history, { edits, view }, chosen) => {
      const again = await condense(chosen, structuredClone(history));
      expect(JSON.stringify(again.edits)).toBe(JSON.stringify(edits));
      expect(JSON.stringify(again.view)).toBe(JSON.stringify(view));
    }));

  it('get no further edits in a second run over the condensed messages', () =>
    holds(histories, async (_history, { view }, chosen) => {
      const again = await condense({ ...chosen, target: undefined }, view);
      // With a target, the first run may have stopped early, so that the second still removes
      // something.
      if (chosen.target === undefined) expect(again.edits).toEqual([]);
    }));

  it("get no further edits in a second run on top of the first run's edits", () =>
    holds(histories, async (history, { edits }, chosen) => {
      if (chosen.target !== undefined) return;
      expect((await condense(chosen, history, edits)).result.edits).toEqual([]);
    }));

  it('can be restored byte for byte', () =>
    holds(histories, (history, { edits, view }) => {
      const restored = restoreMessagesBeforeEdits(view, edits, collectOriginals(history, edits));
      expect(JSON.stringify(restored)).toBe(JSON.stringify(history));
    }));

  it('have an expandable reference for each cut', () =>
    holds(histories, (history, { edits }) => {
      const references = collectReferences(edits);
      const originals = collectOriginals(history, edits);
      for (const edit of listCuts(selectLastEditPerPlace(edits))) {
        for (const { start, end, reference } of edit.cuts) {
          if (reference === undefined) continue;
          const named = references.get(reference);
          expect(named && expandReference(named, originals)).toBe(originalText(history, edit).slice(start, end));
        }
      }
    }));

  it('can be read by expanding their markers', () =>
    holds(histories, (history, { edits, view }) => {
      const references = collectReferences(edits);
      const originals = collectOriginals(history, edits);
      for (const edit of listCuts(selectLastEditPerPlace(edits))) {
        const original = originalText(history, edit);
        if (original.includes(MARKER_START) || edit.cuts.some(({ reference }) => reference === undefined)) continue;
        const standing = getValueAt(view[edit.place.message], edit.place.path) as string;
        const expanded = expandMarkers(standing, (reference) => {
          const named = references.get(reference);
          return named && expandReference(named, originals);
        });
        expect(expanded).toBe(original);
      }
    }));

  it('still show each line that a strict edit cut, at another place', () =>
    holds(
      histories,
      (history, { edits, view }) => {
        const standing = linesOfView(view);
        for (const edit of listCuts(selectLastEditPerPlace(edits))) {
          if (!edit.strict) continue;
          const original = originalText(history, edit);
          for (const { start, end } of edit.cuts) {
            for (const line of linesAround(original, start, end)) {
              expect(standing.has(line), `"${line.slice(0, 80)}" of step ${edit.step}`).toBe(true);
            }
          }
        }
      },
      losslessSetup,
    ));
});
