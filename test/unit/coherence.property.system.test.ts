/**
 * Compares the coherence report of generated histories with a simple one, which has no caches and
 * searches the whole view as one text.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureCoherence, type CoherenceReport } from '../../src/core/condense/coherence/coherence';
import { collectFacts, type Fact } from '../../src/core/condense/coherence/facts';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { selectLastEditPerPlace, getOriginalText, type Edit } from '../../src/core/condense/edits/edits';
import { findMarkers } from '../../src/core/messages/markers';
import { createSmartProvider } from '../../src/core/condense/providers/smart';
import type { SmartConfigInput } from '../../src/core/condense/providers/smart/config';
import { createTestSummarizer } from '../../src/core/condense/summary/testing';
import { listContents } from '../../src/core/messages/content';
import { DEFAULT_TOOLS } from '../../src/core/messages/tools';
import type { ApiMessage } from '../../src/core/messages/types';
import { anyHistory } from '../generators/arbitraries';
import { smartConfig } from '../generators/arbitrarySmart';
import { freshCounter } from '../generators/setups';

type History = readonly ApiMessage[];
type Counts = Record<'kept' | 'recallable' | 'lost', number>;

/** Separates texts. No fact contains it, so none is found across two texts. */
const BETWEEN = '\u0000';
const wholeText = (messages: History): string =>
  messages
    .flatMap(listContents)
    .map(({ text }) => text)
    .join(BETWEEN);

/** Returns the whole original lines that an agent can recall by an edit's references. */
function ledTo(history: History, edit: Edit, standing: ReadonlySet<string>): string {
  if (edit.kind === 'summary') {
    return standing.has(edit.reference) ? wholeText(history.slice(edit.start, edit.end)) : '';
  }
  if (edit.kind === 'block') return '';
  const text = `\n${getOriginalText(history, edit) ?? ''}\n`;
  const led = edit.cuts.filter(({ reference }) => reference !== undefined && standing.has(reference));
  return led
    .map(({ start, end }) => text.slice(text.lastIndexOf('\n', start) + 1, text.indexOf('\n', end + 1)))
    .join('\n');
}

function expectedCounts(history: History, edits: readonly Edit[]): Record<Fact['kind'], Counts> {
  const fresh = structuredClone(history);
  const view = wholeText(applyEdits(fresh, edits).messages);
  const standing = new Set<string>(findMarkers(view).map(({ reference }) => reference));
  const led = selectLastEditPerPlace(edits)
    .map((edit) => ledTo(fresh, edit, standing))
    .join(BETWEEN);
  const none = (): Counts => ({ kept: 0, recallable: 0, lost: 0 });
  const counts = { files: none(), errors: none(), instructions: none(), todos: none() };
  for (const { kind, text } of collectFacts(fresh, DEFAULT_TOOLS)) {
    const short = text.split(/[\\/]/).filter(Boolean).slice(-3).join('/');
    const isKept = view.includes(text) || (kind === 'files' && view.includes(short));
    counts[kind][isKept ? 'kept' : led.includes(text) ? 'recallable' : 'lost']++;
  }
  return counts;
}

const getCounts = ({ files, errors, instructions, todos }: CoherenceReport): Record<Fact['kind'], Counts> => {
  const counts = ({ kept, recallable, lost }: Counts): Counts => ({ kept, recallable, lost });
  return { files: counts(files), errors: counts(errors), instructions: counts(instructions), todos: counts(todos) };
};

async function makeEdits(
  messages: History,
  edits: readonly Edit[],
  config: SmartConfigInput,
): Promise<readonly Edit[]> {
  const summarizer = createTestSummarizer(['A short summary.']);
  const smart = createSmartProvider({ select: () => ({ summarizer, chosen: 'condensing-profile' }) });
  const checked = smart.validateConfig(config);
  if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
  return (await smart.condense({ messages, edits, counter: freshCounter() }, checked.config, {})).edits;
}

describe('the report on kept facts of a growing conversation', () => {
  it('equals a search of the whole conversation at each step and after an undo', async () => {
    let gone = 0;
    await fc.assert(
      fc.asyncProperty(
        anyHistory,
        smartConfig,
        fc.double({ min: 0.2, max: 1, noNaN: true }),
        async (all, config, share) => {
          const check = (history: History, shown: readonly Edit[]): void => {
            const counts = getCounts(measureCoherence(history, shown));
            expect(counts).toEqual(expectedCounts(history, shown));
            for (const { recallable, lost } of Object.values(counts)) gone += recallable + lost;
          };
          let edits: readonly Edit[] = [];
          let before = edits;
          for (const part of [share / 2, share, (1 + share) / 2, 1]) {
            const history = all.slice(0, Math.ceil(all.length * part));
            before = edits;
            edits = [...edits, ...(await makeEdits(history, edits, config))];
            check(history, edits);
          }
          check(all, before);
        },
      ),
    );
    // Without this, the test could pass although nothing was lost.
    expect(gone).toBeGreaterThan(0);
  });
});
